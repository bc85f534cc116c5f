// Waiting for a lock of another owner, and who may stop it.
#include "cache/lock/file_locks.h"

#include <gtest/gtest.h>

#include <algorithm>

#include <cerrno>
#include <deque>
#include <memory>
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
  using Waiting = Pending<Result<client::LockGrant>>;
  static client::LockOwner owner_number(int number) {
    return {client::LockKind::posix, 1000 + static_cast<std::uint64_t>(number)};
  }
  Task<Result<client::LockGrant>> ask_for(client::LockOwner owner, client::ByteRange range,
                                          bool exclusive, LockCaller& who, bool will_wait = true) {
    client::WantedLock wanted;
    wanted.owner = owner;
    wanted.range = range;
    wanted.exclusive = exclusive;
    wanted.will_wait = will_wait;
    return lock(files().writes(), file_, wanted, who);
  }
  int lock_now_of(client::LockOwner owner, client::ByteRange range) {
    LockCaller who;
    auto locked = run(ask_for(owner, range, true, who, /*will_wait=*/false));
    return locked ? 0 : client::to_errno(locked.error());
  }
  /// LOCK requests so far.
  int asked() const {
    return static_cast<int>(std::ranges::count_if(
        server_.arrivals(), [](const Arrival& arrival) { return arrival.has(nfs4::OP_LOCK); }));
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

TEST_F(FileLocksTest, OfManyWaitersOneAsksForEachUnlock) {
  constexpr int kWaiters = 600;
  ASSERT_EQ(lock_now(kOne), 0);
  std::deque<LockCaller> callers(kWaiters);
  std::vector<std::unique_ptr<Pending<Result<client::LockGrant>>>> waiting;
  for (int i = 0; i < kWaiters; ++i) {
    waiting.push_back(
        std::make_unique<Pending<Result<client::LockGrant>>>(ask(owner_number(i), callers[i])));
    reactor_.settle();
  }
  unlock_all(kOne);
  for (int i = 0; i < kWaiters; ++i) {
    reactor_.settle();
    ASSERT_TRUE(waiting[i]->done()) << "in the order in which they came: " << i;
    if (i + 1 < kWaiters) {
      ASSERT_FALSE(waiting[i + 1]->done());
    }
    unlock_all(owner_number(i));
  }
  EXPECT_LT(asked(), 2 * kWaiters + kWaiters / 10);
}

TEST_F(FileLocksTest, ReadersGetTheirLocksTogether) {
  ASSERT_EQ(lock_now(kOne), 0);
  std::deque<LockCaller> callers(4);
  Waiting first(ask_for(owner_number(0), {}, /*exclusive=*/false, callers[0]));
  reactor_.settle();
  Waiting second(ask_for(owner_number(1), {}, /*exclusive=*/false, callers[1]));
  reactor_.settle();
  Waiting writer(ask_for(owner_number(2), {}, /*exclusive=*/true, callers[2]));
  reactor_.settle();
  Waiting last(ask_for(owner_number(3), {}, /*exclusive=*/false, callers[3]));
  reactor_.settle();
  unlock_all(kOne);
  reactor_.settle();
  EXPECT_TRUE(first.done());
  EXPECT_TRUE(second.done());
  EXPECT_TRUE(last.done()) << "the writer is refused while they have theirs, and holds up nobody";
  EXPECT_FALSE(writer.done());
  for (const int reader : {0, 1, 3}) unlock_all(owner_number(reader));
  reactor_.settle();
  EXPECT_TRUE(writer.done());
}

TEST_F(FileLocksTest, AWaiterThatGivesUpPassesTheTurnOn) {
  ASSERT_EQ(lock_now(kOne), 0);
  std::deque<LockCaller> callers(2);
  Waiting first(ask_for(owner_number(0), {}, true, callers[0]));
  reactor_.settle();
  Waiting second(ask_for(owner_number(1), {}, true, callers[1]));
  reactor_.settle();
  unlock_all(kOne);
  callers[0].interrupt();  // woken, and not asking yet
  reactor_.settle();
  ASSERT_TRUE(first.done());
  if (first.value()) unlock_all(owner_number(0));
  reactor_.settle();
  EXPECT_TRUE(second.done());
}

TEST_F(FileLocksTest, AWaiterThatIsRefusedAgainDoesNotHoldUpOthers) {
  ASSERT_EQ(lock_now_of(kOne, {0, 9}), 0);
  ASSERT_EQ(lock_now_of(kTwo, {10, 19}), 0);
  std::deque<LockCaller> callers(3);
  Waiting wide(ask_for(owner_number(0), {0, 19}, true, callers[0]));
  reactor_.settle();
  Waiting same(ask_for(owner_number(1), {0, 19}, true, callers[1]));
  reactor_.settle();
  Waiting narrow(ask_for(owner_number(2), {0, 4}, true, callers[2]));
  reactor_.settle();
  unlock_all(kOne);
  reactor_.settle();
  EXPECT_TRUE(narrow.done()) << "the first one waits for another lock";
  EXPECT_FALSE(wide.done());
  EXPECT_FALSE(same.done());
  unlock_all(kTwo);
  unlock_all(owner_number(2));
  reactor_.settle();
  EXPECT_TRUE(wide.done());
  unlock_all(owner_number(0));
  reactor_.settle();
  EXPECT_TRUE(same.done());
}

TEST_F(FileLocksTest, AnUnlockElsewhereInTheFileWakesNobody) {
  ASSERT_EQ(lock_now_of(kOne, {0, 9}), 0);
  ASSERT_EQ(lock_now_of(kTwo, {10, 19}), 0);
  LockCaller who;
  Waiting waiting(ask_for(owner_number(0), {0, 9}, true, who));
  reactor_.settle();
  const int before = asked();
  unlock_all(kTwo);
  reactor_.settle();
  EXPECT_EQ(asked(), before);
  unlock_all(kOne);
  reactor_.settle();
  EXPECT_TRUE(waiting.done());
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

// What a close costs does not grow with the number of opens: only of those that are known here are
// the opens looked at.
TEST_F(FileLocksTest, AnOwnerIsKnownWhileItMayHaveLocks) {
  OpenInode& open = *file_->shared;
  EXPECT_FALSE(may_hold_locks(open, kOne));
  ASSERT_EQ(lock_now(kOne), 0);
  EXPECT_EQ(open.locking.size(), 1u);
  EXPECT_EQ(open.lockers.size(), 1u);
  EXPECT_TRUE(may_hold_locks(open, kOne));
  EXPECT_FALSE(may_hold_locks(open, kTwo));
  forget_locker(open, kTwo.id);
  EXPECT_EQ(file_->lockers.size(), 1u);
  forget_locker(open, kOne.id);
  EXPECT_TRUE(file_->lockers.empty());
  EXPECT_EQ(open.lockers.size(), 0u);
  EXPECT_TRUE(run(release_locks(files().writes(), Departure(file_->shared, kOne))));
  EXPECT_FALSE(may_hold_locks(open, kOne));
  EXPECT_EQ(open.locking.size(), 0u);
  EXPECT_EQ(lock_now(kTwo), 0);
  EXPECT_EQ(lock_now(kOne), EAGAIN);
  EXPECT_FALSE(may_hold_locks(open, kOne));
  EXPECT_EQ(open.locking.size(), 1u) << "one that was refused is forgotten at its close";
}

TEST_F(FileLocksTest, AnOwnerThatLocksAgainWhileItLeavesStaysKnown) {
  OpenInode& open = *file_->shared;
  ASSERT_EQ(lock_now(kOne), 0);
  auto leaving = std::make_unique<Departure>(file_->shared, kOne);
  LockCaller who;
  Waiting again(ask_for(kOne, {}, /*exclusive=*/true, who));
  reactor_.settle();
  EXPECT_FALSE(again.done());
  EXPECT_TRUE(run(release_locks(files().writes(), std::move(*leaving))));
  leaving.reset();
  EXPECT_TRUE(finish(again));
  EXPECT_TRUE(may_hold_locks(open, kOne));
}

}  // namespace
}  // namespace nfsrdma::cache::test
