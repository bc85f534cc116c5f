// Byte-range locks at the responder's NFSv4.1 service, in virtual time: what becomes of a
// lock-owner (RFC 8881 sections 9.4, 18.10 to 18.12, 18.38).
#include "client/files/lock.h"

#include <gtest/gtest.h>

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

// NFS4ERR_DEADLOCK is what fcntl(2) calls EDEADLK.
TEST_F(ServedLocks, ADeadlockIsTold) {
  ASSERT_EQ(lock_for(kAnn, {0, 0}), 0);
  ASSERT_EQ(lock_for(kBob, {1, 1}), 0);
  EXPECT_EQ(lock_for(kAnn, {1, 1}, /*will_wait=*/true), EAGAIN);
  EXPECT_EQ(lock_for(kBob, {0, 0}), EAGAIN) << "does not wait";
  EXPECT_EQ(lock_for(kBob, {0, 0}, /*will_wait=*/true), EDEADLK);
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
