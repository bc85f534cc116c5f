// Waiting for a lock of another owner, and who may stop it.
#include "cache/lock/file_locks.h"

#include <gtest/gtest.h>

#include <algorithm>

#include <cerrno>
#include <string>
#include <vector>

#include "cache/file/io_lock.h"
#include "client/requests/errno.h"
#include "tests/cache/served_files.h"
#include "tests/client/fake_mount.h"

namespace nfsrdma::cache::test {
namespace {

using client::test::Arrival;
using client::test::Fate;
using client::test::Pending;

class FileLocksTest : public ServedFiles {
 protected:
  static constexpr client::LockOwner kOne{client::LockKind::posix, 1};
  static constexpr client::LockOwner kTwo{client::LockKind::posix, 2};

  void SetUp() override {
    ServedFiles::SetUp();
    server_.write_file("f", "text");
    file_ = open("f");
  }
  void TearDown() override {
    file_.reset();
    ServedFiles::TearDown();
  }

  Task<Result<client::LockGrant>> ask(client::LockOwner owner, LockCaller& who,
                                      bool will_wait = true) {
    client::WantedLock wanted;
    wanted.owner = owner;
    wanted.exclusive = true;
    wanted.will_wait = will_wait;
    return lock(files().writes(), file_, wanted, who);
  }
  int lock_now(client::LockOwner owner) {
    LockCaller who;
    auto locked = run(ask(owner, who, /*will_wait=*/false));
    return locked ? 0 : client::to_errno(locked.error());
  }
  void unlock_all(client::LockOwner owner) {
    ASSERT_TRUE(run(unlock(files().writes(), file_, owner, client::ByteRange::whole_file())));
  }

  FileRef file_;
};

TEST_F(FileLocksTest, WhoDoesNotWaitIsRefusedAtOnce) {
  EXPECT_EQ(lock_now(kOne), 0);
  EXPECT_EQ(lock_now(kTwo), EAGAIN);
  unlock_all(kOne);
  EXPECT_EQ(lock_now(kTwo), 0);
}

TEST_F(FileLocksTest, WhoWaitsGetsTheLockWhenItIsGivenBack) {
  ASSERT_EQ(lock_now(kOne), 0);
  LockCaller who;
  Pending<Result<client::LockGrant>> waiting(ask(kTwo, who));
  reactor_.advance(std::chrono::seconds(20));
  EXPECT_FALSE(waiting.done());
  unlock_all(kOne);
  EXPECT_TRUE(finish(waiting));
  EXPECT_EQ(lock_now(kOne), EAGAIN);
}

TEST_F(FileLocksTest, AnInterruptEndsTheWait) {
  ASSERT_EQ(lock_now(kOne), 0);
  LockCaller who;
  Pending<Result<client::LockGrant>> waiting(ask(kTwo, who));
  reactor_.settle();
  const TimePoint before = reactor_.now();
  who.interrupt();
  reactor_.settle();
  ASSERT_TRUE(waiting.done());
  EXPECT_EQ(client::to_errno(waiting.value().error()), EINTR);
  EXPECT_EQ(reactor_.now(), before);
}

// While LOCK is on its way nothing waits that could be woken.
TEST_F(FileLocksTest, AnInterruptBeforeTheWaitIsNotForgotten) {
  ASSERT_EQ(lock_now(kOne), 0);
  server_.fate = [](const Arrival& arrival) {
    return arrival.has(nfs4::OP_LOCK) ? Fate::hold : Fate::answer;
  };
  LockCaller who;
  Pending<Result<client::LockGrant>> waiting(ask(kTwo, who));
  reactor_.settle();
  who.interrupt();
  server_.fate = nullptr;
  server_.disconnect();
  auto ended = finish(waiting);
  ASSERT_FALSE(ended);
  EXPECT_EQ(client::to_errno(ended.error()), EINTR);
}

TEST_F(FileLocksTest, TheLockInTheWayIsTold) {
  ASSERT_EQ(lock_now(kOne), 0);
  client::WantedLock wanted;
  wanted.owner = kTwo;
  auto tested = run(test_lock(mount(), file_, wanted));
  ASSERT_TRUE(tested);
  ASSERT_TRUE(*tested);
  EXPECT_TRUE((*tested)->exclusive);
}

// Linux lets lock who may read. An owner whose groups have changed goes on with its lock.
TEST_F(FileLocksTest, WhoDiffersInGroupsLocksWithItsOwn) {
  FileRef other = open_as(member_of(7), "f");
  std::swap(file_, other);
  ASSERT_EQ(lock_now(kOne), 0);
  server_.reboot(client::test::ServedDirectory::kLeaseSeconds);
  std::swap(file_, other);
  EXPECT_EQ(lock_now(kTwo), EAGAIN);
  client::WantedLock wanted;
  wanted.owner = kTwo;
  EXPECT_TRUE(run(test_lock(mount(), other, wanted)));
  unlock_all(kOne);
  EXPECT_EQ(lock_now(kTwo), 0);
  EXPECT_EQ(groups_of(nfs4::OP_LOCK), (std::vector{7U, 7U, 0U, 0U})) << "the second reclaims";
  EXPECT_EQ(groups_of(nfs4::OP_LOCKT), std::vector{7U});
  EXPECT_EQ(groups_of(nfs4::OP_LOCKU), std::vector{7U});
}

TEST_F(FileLocksTest, ChangesOfOthersAreSeenUnlessNothingCanBeAsked) {
  server_.write_file("f", "longer than before");
  ASSERT_EQ(lock_now(kOne), 0);
  EXPECT_TRUE(run(see_changes(files().writes(), file_)));
  EXPECT_EQ(file_->inode->attributes().value().size, 18U);
  server_.fail(nfs4::OP_GETATTR, nfs4::NFS4ERR_IO);
  EXPECT_FALSE(run(see_changes(files().writes(), file_)));
  EXPECT_FALSE(files().attributes().fresh(*file_->inode));
}

TEST_F(FileLocksTest, ADeadlockIsToldToFcntlAndWaitedOutByFlock) {
  server_.fail(nfs4::OP_LOCK, nfs4::NFS4ERR_DEADLOCK);
  LockCaller who;
  auto locked = run(ask(kOne, who));
  ASSERT_FALSE(locked);
  EXPECT_EQ(client::to_errno(locked.error()), EDEADLK);
  server_.fail(nfs4::OP_LOCK, nfs4::NFS4ERR_DEADLOCK);
  EXPECT_TRUE(run(ask({client::LockKind::flock, 3}, who)));
}

// flock(2): "the existing lock is first removed, and then a new lock is established".
TEST_F(FileLocksTest, TwoFlocksThatBothBecomeExclusiveDoNotWaitForEachOther) {
  constexpr client::LockOwner kFlocks[] = {{client::LockKind::flock, 3},
                                           {client::LockKind::flock, 4}};
  LockCaller who[2];
  for (const client::LockOwner& owner : kFlocks) {
    client::WantedLock shared;
    shared.owner = owner;
    ASSERT_TRUE(run(lock(files().writes(), file_, shared, who[0])));
  }
  Pending<Result<client::LockGrant>> first(ask(kFlocks[0], who[0]));
  reactor_.settle();
  Pending<Result<client::LockGrant>> second(ask(kFlocks[1], who[1]));
  EXPECT_TRUE(finish(second));
  EXPECT_FALSE(first.done());
  unlock_all(kFlocks[1]);
  EXPECT_TRUE(finish(first));
}

// What has nothing to give up wakes nobody: else two of them would ask in turns, without a pause.
TEST_F(FileLocksTest, FlocksThatWaitForAThirdDoNotWakeEachOther) {
  constexpr client::LockOwner kHolder{client::LockKind::flock, 3};
  constexpr client::LockOwner kWaiters[] = {{client::LockKind::flock, 4},
                                            {client::LockKind::flock, 5}};
  for (const client::LockOwner& owner : kWaiters) {
    ASSERT_EQ(lock_now(owner), 0);
    unlock_all(owner);
  }
  ASSERT_EQ(lock_now(kHolder), 0);
  server_.forget_arrivals();
  LockCaller who[2];
  Pending<Result<client::LockGrant>> first(ask(kWaiters[0], who[0]));
  Pending<Result<client::LockGrant>> second(ask(kWaiters[1], who[1]));
  constexpr int kTurns = 1000;  // in which no time passes
  for (int i = 0; i < kTurns; ++i) reactor_.run_once(Duration::zero());
  const auto asks = [](const auto& arrival) { return arrival.has(nfs4::OP_LOCK); };
  EXPECT_EQ(std::ranges::count_if(server_.arrivals(), asks), 2);
  unlock_all(kHolder);
  EXPECT_TRUE(finish(first));
  unlock_all(kWaiters[0]);
  EXPECT_TRUE(finish(second));
}

TEST_F(FileLocksTest, AnUnlockThatFailsIsToldOnce) {
  ASSERT_EQ(lock_now(kOne), 0);
  server_.fail(nfs4::OP_LOCKU, nfs4::NFS4ERR_IO);
  EXPECT_FALSE(run(unlock(files().writes(), file_, kOne, client::ByteRange::whole_file())));
  unlock_all(kOne);
  EXPECT_EQ(lock_now(kTwo), 0);
}

TEST_F(FileLocksTest, WhatWasWrittenIsSentBeforeALockAndBeforeCloseGivesItUp) {
  ASSERT_TRUE(gather(file_, 0, "before"));
  ASSERT_EQ(lock_now(kOne), 0);
  EXPECT_EQ(server_.read_file("f"), "before");
  ASSERT_TRUE(gather(file_, 0, "during"));
  EXPECT_TRUE(run(release_locks(files().writes(), Departure(file_->shared, kOne))));
  EXPECT_EQ(server_.read_file("f"), "during");
}

TEST_F(FileLocksTest, AFileKnowsWhoLocksThroughIt) {
  ASSERT_EQ(lock_now(kOne), 0);
  unlock_all(kOne);
  ASSERT_EQ(lock_now(kOne), 0);
  EXPECT_EQ(file_->lockers, (std::vector<std::uint64_t>{kOne.id}));
  forget_locker(*file_->shared, kOne.id);
  EXPECT_TRUE(file_->lockers.empty());
  unlock_all(kOne);
  ASSERT_EQ(lock_now({client::LockKind::flock, 3}), 0);
  EXPECT_EQ(file_->flock_owner, 3U);
}

TEST_F(FileLocksTest, ARangeOfBytesEndsWithItsLastOne) {
  const client::ByteRange range = io_range(10, 5);
  EXPECT_EQ(range.first, 10U);
  EXPECT_EQ(range.last, 14U);
  EXPECT_EQ(io_range(10, 0).last, client::ByteRange::kEnd);
}

TEST_F(FileLocksTest, WhoReleasesALostLockIsTold) {
  ASSERT_EQ(lock_now(kOne), 0);
  server_.fail(nfs4::OP_LOCK, nfs4::NFS4ERR_RECLAIM_CONFLICT, 100);
  server_.reboot(10);
  ASSERT_TRUE(run(files().attributes().revalidate(root_, caller())));
  EXPECT_FALSE(run(release_locks(files().writes(), Departure(file_->shared, kOne))));
}

}  // namespace
}  // namespace nfsrdma::cache::test
