// Byte-range locks at the responder's NFSv4.1 service, in virtual time: what becomes of a
// lock-owner (RFC 8881 sections 9.4, 18.10 to 18.12, 18.38).
#include "client/files/lock.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "client/files/open_files.h"
#include "client/requests/errno.h"
#include "tests/client/served_mount.h"

namespace nfsrdma::client::test {
namespace {

using namespace nfs4;

constexpr LockOwner kAnn{LockKind::posix, 1};
constexpr LockOwner kBob{LockKind::posix, 2};

class ServedLocks : public ServedMount {
 protected:
  void SetUp() override {
    ServedMount::SetUp();
    server_.write_file("file", "content");
    file_ = open_file("file", OPEN4_SHARE_ACCESS_BOTH);
  }
  void TearDown() override {
    EXPECT_TRUE(run(mount().opens().close(std::move(file_.open))));
    ServedMount::TearDown();
  }
  /// 0 or an errno.
  int lock_for(LockOwner owner, ByteRange range, bool will_wait = false) {
    WantedLock wanted{.owner = owner, .range = range, .exclusive = true, .will_wait = will_wait};
    auto locked = run(client::lock(mount(), file_.open.file(), wanted));
    return locked ? 0 : to_errno(locked.error());
  }
  int unlock_for(LockOwner owner, ByteRange range) {
    auto unlocked = run(unlock(mount(), file_.open.file(), owner, range));
    return unlocked ? 0 : to_errno(unlocked.error());
  }
  int let_go(LockOwner owner) {
    auto unlocked = run(unlock_all(mount(), file_.open.file(), owner));
    return unlocked ? 0 : to_errno(unlocked.error());
  }

  Opened file_;
};

// The stateid of a lock-owner that was freed means nothing any more: a process that closes one of
// its descriptors, which gives all its locks back, and locks again is a new owner to the server.
TEST_F(ServedLocks, AnOwnerThatWasFreedLocksAnew) {
  ASSERT_EQ(lock_for(kAnn, {0, 9}), 0);
  ASSERT_EQ(lock_for(kBob, {20, 29}), 0);
  ASSERT_EQ(let_go(kAnn), 0);
  EXPECT_EQ(server_.successes_of(OP_FREE_STATEID), 1);
  EXPECT_EQ(lock_for(kAnn, {0, 9}), 0);
  EXPECT_EQ(lock_for(kBob, {5, 6}), EAGAIN) << "the lock is there";
  EXPECT_FALSE(file_.open->lost());
  EXPECT_TRUE(read_text(file_));
}

TEST_F(ServedLocks, AStateidThatWasFreedIsNamedNoMore) {
  ASSERT_EQ(lock_for(kAnn, {0, 9}), 0);
  ASSERT_EQ(let_go(kAnn), 0);
  server_.forget_arrivals();
  EXPECT_EQ(lock_for(kAnn, {0, 9}), 0);
  EXPECT_EQ(server_.arrivals().size(), 1U) << "LOCK was refused first";
}

// A lock-owner without locks whose stateid the server keeps is remembered here, to be freed.
TEST_F(ServedLocks, AnOwnerThatUnlocksIsFreedAtItsEnd) {
  ASSERT_EQ(lock_for(kAnn, {0, 9}), 0);
  ASSERT_EQ(unlock_for(kAnn, {0, 9}), 0);
  ASSERT_EQ(let_go(kAnn), 0);
  EXPECT_EQ(server_.successes_of(OP_FREE_STATEID), 1);
  ASSERT_EQ(lock_for(kAnn, {0, 9}), 0);
  ASSERT_EQ(unlock_for(kAnn, {0, 9}), 0);
  ASSERT_EQ(lock_for(kAnn, {5, 7}), 0);
  ASSERT_EQ(let_go(kAnn), 0);
  EXPECT_EQ(server_.successes_of(OP_FREE_STATEID), 2);
  EXPECT_EQ(server_.successes_of(OP_LOCKU), 3);
}

// RFC 8881 section 18.2.3: a server may let no file be closed that has locks.
TEST_F(ServedLocks, AreGivenBackWhereTheServerDoesNotCloseWithThem) {
  ASSERT_EQ(lock_for(kAnn, {0, 9}), 0);
  server_.fail(OP_CLOSE, NFS4ERR_LOCKS_HELD);
  EXPECT_TRUE(run(mount().opens().close(std::move(file_.open))));
  EXPECT_EQ(server_.successes_of(OP_LOCKU), 1);
  EXPECT_EQ(server_.successes_of(OP_CLOSE), 1);
}

// NFS4ERR_DEADLOCK is what fcntl(2) calls EDEADLK.
TEST_F(ServedLocks, ADeadlockIsTold) {
  ASSERT_EQ(lock_for(kAnn, {0, 0}), 0);
  ASSERT_EQ(lock_for(kBob, {1, 1}), 0);
  EXPECT_EQ(lock_for(kAnn, {1, 1}, /*will_wait=*/true), EAGAIN);
  EXPECT_EQ(lock_for(kBob, {0, 0}), EAGAIN) << "does not wait";
  EXPECT_EQ(lock_for(kBob, {0, 0}, /*will_wait=*/true), EDEADLK);
}

/// Nobody takes a lock that was granted.
class UntakenLock : public ServedLocks {
 protected:
  Credential asker() {
    Credential asks = caller();
    asks.uid += 1000;
    return asks;
  }
  LockGrant granted(ByteRange range, bool exclusive = true, bool will_wait = false) {
    auto locked = run(client::lock(mount(), file_.open.file(),
                                   {.owner = kAnn,
                                    .range = range,
                                    .exclusive = exclusive,
                                    .will_wait = will_wait,
                                    .caller = asker()}));
    EXPECT_TRUE(locked) << locked.error().message();
    return std::move(*locked);
  }
  void take_back(LockGrant grant) {
    auto taken_back = run(take_back_lock(mount(), std::move(grant)));
    EXPECT_TRUE(taken_back) << taken_back.error().message();
  }
  std::vector<LockedRange> held_by_ann() {
    const auto lock = file_.open->locks().find(kAnn);
    if (!lock) return {};
    return {lock->ranges.all().begin(), lock->ranges.all().end()};
  }
  using Held = std::vector<LockedRange>;
};

TEST_F(UntakenLock, LeavesWhatItReplaced) {
  granted({2, 4}, /*exclusive=*/false);
  granted({6, 7});
  take_back(granted({0, 9}));
  EXPECT_EQ(held_by_ann(), (Held{{{2, 4}, false}, {{6, 7}, true}}));
  EXPECT_EQ(lock_for(kBob, {0, 1}), 0);
  EXPECT_EQ(lock_for(kBob, {5, 5}), 0);
  EXPECT_EQ(lock_for(kBob, {8, 9}), 0);
  EXPECT_EQ(lock_for(kBob, {2, 2}), EAGAIN);
  EXPECT_EQ(lock_for(kBob, {6, 6}), EAGAIN);
}

TEST_F(UntakenLock, DoesNotBringBackWhatItsOwnerUnlockedSince) {
  granted({0, 9}, /*exclusive=*/false);
  LockGrant grant = granted({0, 9});
  ASSERT_EQ(unlock_for(kAnn, {0, 4}), 0);
  take_back(std::move(grant));
  EXPECT_EQ(held_by_ann(), (Held{{{5, 9}, false}}));
  EXPECT_EQ(lock_for(kBob, {0, 4}), 0);
}

TEST_F(UntakenLock, LeavesWhatItsOwnerLockedOtherwiseSince) {
  LockGrant grant = granted({0, 9});
  granted({0, 4}, /*exclusive=*/false);
  take_back(std::move(grant));
  EXPECT_EQ(held_by_ann(), (Held{{{0, 4}, false}}));
}

// READW_LT would make a server keep a place for who does not ask again.
TEST_F(UntakenLock, IsReplacedInTheNameOfWhoAskedAndNotWaitedFor) {
  granted({0, 9}, /*exclusive=*/false);
  LockGrant grant = granted({0, 9}, /*exclusive=*/true, /*will_wait=*/true);
  server_.forget_arrivals();
  take_back(std::move(grant));
  ASSERT_EQ(server_.arrivals().size(), 1U);
  const Arrival& sent = server_.arrivals().front();
  EXPECT_EQ(sent.caller.uid, asker().uid);
  const std::array<std::byte, 8> lock_shared{
      {{}, {}, {}, std::byte{OP_LOCK}, {}, {}, {}, std::byte{READ_LT}}};
  EXPECT_FALSE(std::ranges::search(sent.bytes, lock_shared).empty());
}

TEST_F(UntakenLock, IsGoneWithItsFile) {
  Opened opened = open_file("file", OPEN4_SHARE_ACCESS_WRITE);
  auto locked = run(client::lock(mount(), opened.open.file(),
                                 {.owner = kAnn, .range = {0, 9}, .exclusive = true}));
  ASSERT_TRUE(locked);
  ASSERT_EQ(let_go(kAnn), 0);
  ASSERT_TRUE(run(mount().opens().close(std::move(opened.open))));
  server_.forget_arrivals();
  take_back(std::move(*locked));
  EXPECT_EQ(server_.arrivals().size(), 0U);
}

// The reply to whom a lock is in the way of has its owner, and clients of other make reserve the
// bytes that their own owners have: 20 with Linux.
TEST(LockOwners, FitIntoTheRepliesOfOtherClients) {
  constexpr std::size_t kRoomOfLinux = 20;
  constexpr LockOwner kLast{LockKind::posix, ~std::uint64_t{0}};
  for (const LockOwner& owner : {kAnn, kBob, kLast, LockOwner{LockKind::flock, 1}}) {
    const LockOwnerText text(owner);
    EXPECT_LE(text.bytes().size(), kRoomOfLinux);
    EXPECT_EQ(LockOwnerText::owner_of(text.bytes()), owner);
  }
}

}  // namespace
}  // namespace nfsrdma::client::test
