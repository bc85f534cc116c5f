// READ, WRITE and SETATTR of locked bytes name the lock (RFC 8881 section 8.2.5): the server
// refuses them otherwise.
#include <fcntl.h>

#include "tests/fuse/ops/kernel_requests.h"

namespace nfsrdma::fuse::test {
namespace {

class LockedIoRequests : public KernelRequests {
 protected:
  static constexpr std::uint64_t kOwner = 11;
  static constexpr std::uint32_t kPid = 1234;

  LockedIoRequests() : KernelRequests(responder::DelegationKind{}, /*mandatory_locks=*/true) {}

  int lock(const Opened& file, std::uint64_t first, std::uint64_t last, int type,
           std::uint32_t flags = 0) {
    const fuse_lk_in in{
        file.fh, kOwner, {first, last, static_cast<std::uint32_t>(type), kPid}, flags, 0};
    return ask(FUSE_SETLK, file.node, in).error;
  }
  /// The first four bytes.
  Answer read_as(const Opened& file, std::uint64_t owner) {
    fuse_read_in in = read_in(file, 0, 4);
    in.lock_owner = owner;
    in.read_flags = FUSE_READ_LOCKOWNER;
    return ask(FUSE_READ, file.node, in);
  }
  int write_as_owner(const Opened& file, std::uint64_t offset, std::string_view text,
                     std::uint64_t owner = kOwner) {
    fuse_write_in in = write_in(file, offset, text.size(), FUSE_WRITE_LOCKOWNER);
    in.lock_owner = owner;
    return ask(FUSE_WRITE, file.node, in, std::as_bytes(std::span(text))).error;
  }
  void end_of(const Opened& file, std::uint64_t lock_owner = kOwner) {
    EXPECT_EQ(flush(file, lock_owner), 0);
    release(file, lock_owner);
  }
};

TEST_F(LockedIoRequests, AReadNamesTheLock) {
  server_.write_file("f", "text");
  const Opened file = kernel_open("f");
  ASSERT_EQ(lock(file, 0, kLast, F_WRLCK), 0);
  EXPECT_EQ(read_as(file, kOwner).text(), "text");
  end_of(file);
}

// The kernel names the process: the lock of another one is not its own.
TEST_F(LockedIoRequests, AReadByAnotherProcessIsNotUnderTheLock) {
  server_.write_file("f", "text");
  const Opened file = kernel_open("f");
  ASSERT_EQ(lock(file, 0, kLast, F_WRLCK), 0);
  const Opened other = open_node(file.node, O_RDONLY | O_DIRECT);
  EXPECT_NE(read_as(other, 22).error, 0);
  release(other);
  end_of(file);
}

// A lock that a process takes later, through another open file, is not one of this open file.
TEST_F(LockedIoRequests, AProcessThatHasClosedAFileCountsNoMoreAsALockerOfIt) {
  server_.write_file("f", "text");
  const Opened file = kernel_open("f", O_RDWR | O_DIRECT);
  ASSERT_EQ(lock(file, 0, kLast, F_WRLCK), 0);
  EXPECT_EQ(flush(file, kOwner), 0);
  const Opened later = open_node(file.node);
  ASSERT_EQ(lock(later, 0, kLast, F_WRLCK), 0);
  EXPECT_NE(read_as(file, 22).error, 0);
  EXPECT_EQ(read_as(later, kOwner).text(), "text");
  release(file);
  end_of(later);
}

TEST_F(LockedIoRequests, AGatheredWriteNamesTheLock) {
  const Opened file = kernel_open("f");
  ASSERT_EQ(lock(file, 0, kLast, F_WRLCK), 0);
  EXPECT_EQ(write_as_owner(file, 0, "text"), 0);
  EXPECT_EQ(fsync(file), 0);
  EXPECT_EQ(server_.read_file("f"), "text");
  end_of(file);
}

TEST_F(LockedIoRequests, ALargeWriteNamesTheLock) {
  const Opened file = kernel_open("f");
  ASSERT_EQ(lock(file, 0, kLast, F_WRLCK), 0);
  EXPECT_EQ(write_as_owner(file, 0, text_of(kLarge)), 0);
  EXPECT_EQ(fsync(file), 0);
  EXPECT_EQ(server_.read_file("f").size(), kLarge);
  end_of(file);
}

TEST_F(LockedIoRequests, ADirectWriteNamesTheLock) {
  const Opened file = kernel_open("f", O_RDWR | O_DIRECT);
  ASSERT_EQ(lock(file, 0, kLast, F_WRLCK), 0);
  EXPECT_EQ(write_as_owner(file, 0, "text"), 0);
  EXPECT_EQ(server_.read_file("f"), "text");
  end_of(file);
}

TEST_F(LockedIoRequests, BytesInsideAndOutsideOfALockGoInTwoWrites) {
  const Opened file = kernel_open("f");
  ASSERT_EQ(lock(file, 5, kLast, F_WRLCK), 0);
  EXPECT_EQ(write_as_owner(file, 0, "free ", /*owner=*/22), 0);
  EXPECT_EQ(write_as_owner(file, 5, "locked"), 0);
  EXPECT_EQ(fsync(file), 0);
  EXPECT_EQ(server_.read_file("f"), "free locked");
  end_of(file);
}

TEST_F(LockedIoRequests, WhatIsSentAgainNamesTheLock) {
  const Opened file = kernel_open("f");
  ASSERT_EQ(lock(file, 0, kLast, F_WRLCK), 0);
  EXPECT_EQ(write_as_owner(file, 0, text_of(kLarge)), 0);
  reactor_.advance(cache::WriteBehind::kLongest);
  ASSERT_EQ(writes(), 1);
  server_.write_file("f", "");
  server_.reboot(10);
  EXPECT_EQ(fsync(file), 0);
  EXPECT_TRUE(server_.read_file("f") == text_of(kLarge));
  end_of(file);
}

TEST_F(LockedIoRequests, ATruncationNamesTheLock) {
  server_.write_file("f", "text");
  const Opened file = kernel_open("f");
  ASSERT_EQ(lock(file, 0, kLast, F_WRLCK), 0);
  fuse_setattr_in cut{};
  cut.valid = FATTR_SIZE | FATTR_FH;
  cut.fh = file.fh;
  cut.size = 2;
  EXPECT_EQ(ask(FUSE_SETATTR, file.node, cut).error, 0);
  EXPECT_EQ(server_.read_file("f"), "te");
  end_of(file);
}

TEST_F(LockedIoRequests, WhatWasWrittenUnderALockIsSentBeforeTheUnlock) {
  const Opened file = kernel_open("f");
  const Opened reader = open_node(file.node, O_RDONLY);
  ASSERT_EQ(lock(file, 0, kLast, F_WRLCK), 0);
  EXPECT_EQ(write_as_owner(file, 0, "text"), 0);
  ASSERT_EQ(lock(reader, 0, kLast, F_UNLCK), 0);
  EXPECT_EQ(server_.read_file("f"), "text");
  EXPECT_EQ(fsync(file), 0);
  end_of(file);
  release(reader);
}

// Sent again after a restart of the server, it would overwrite what the next holder has written.
TEST_F(LockedIoRequests, WhatWasWrittenUnderALockIsDurableAfterAnUnlockThroughAReader) {
  server_.service().set_never_stable(true);
  const Opened file = kernel_open("f");
  const Opened reader = open_node(file.node, O_RDONLY);
  ASSERT_EQ(lock(file, 0, kLast, F_WRLCK), 0);
  EXPECT_EQ(write_as_owner(file, 0, "text"), 0);
  ASSERT_EQ(lock(reader, 0, kLast, F_UNLCK), 0);
  EXPECT_EQ(server_.successes_of(nfs4::OP_COMMIT), 1);
  end_of(file);
  release(reader);
}

// The write of a caller that was killed, or has waited for as long as timeo says: behind the unlock
// it would overwrite what the next holder of a lock has written.
class LockedByWhoWasAnsweredEarly : public LockedIoRequests {
 protected:
  Opened write_under_lock(std::uint32_t lock_flags = 0) {
    make_soft_kernel(ETIMEDOUT);
    const Opened file = kernel_open("f", O_RDWR | O_DIRECT);
    EXPECT_EQ(lock(file, 0, kLast, F_WRLCK, lock_flags), 0);
    hold_writes();
    EXPECT_EQ(write_as_owner(file, 0, "text"), ETIMEDOUT);
    return file;
  }
  void see_it_written_before_the_unlock() {
    reactor_.settle();
    EXPECT_EQ(server_.successes_of(nfs4::OP_LOCKU), 0);
    let_go();
    reactor_.advance(std::chrono::seconds(5));
    EXPECT_EQ(server_.successes_of(nfs4::OP_LOCKU), 1);
    EXPECT_EQ(server_.read_file("f"), "text");
  }
};

TEST_F(LockedByWhoWasAnsweredEarly, AnUnlockWaits) {
  const Opened file = write_under_lock();
  const fuse_lk_in all{file.fh, kOwner, {0, kLast, F_UNLCK, kPid}, 0, 0};
  const auto unlock = begin(FUSE_SETLK, file.node, all);
  see_it_written_before_the_unlock();
  end(unlock);
  end_of(file);
}

TEST_F(LockedByWhoWasAnsweredEarly, ACloseWaits) {
  const Opened file = write_under_lock();
  const auto closing =
      begin(FUSE_FLUSH, file.node, fuse_flush_in{.fh = file.fh, .lock_owner = kOwner});
  see_it_written_before_the_unlock();
  end(closing);
  release(file, kOwner);
}

TEST_F(LockedByWhoWasAnsweredEarly, TheLastCloseOfAFlockWaits) {
  const Opened file = write_under_lock(FUSE_LK_FLOCK);
  begin(FUSE_RELEASE, file.node, fuse_release_in{.fh = file.fh, .lock_owner = kOwner});
  see_it_written_before_the_unlock();
}

TEST_F(LockedIoRequests, WhatWasWrittenBeforeALockIsSentBeforeIt) {
  const Opened file = kernel_open("f");
  EXPECT_EQ(write(file, 0, "text"), 0);
  ASSERT_EQ(lock(file, 0, kLast, F_WRLCK), 0);
  EXPECT_EQ(server_.read_file("f"), "text");
  end_of(file);
}

TEST_F(LockedIoRequests, CloseGivesUpTheLocksOfAReader) {
  server_.write_file("f", "text");
  const Opened file = kernel_open("f", O_RDONLY);
  ASSERT_EQ(lock(file, 0, kLast, F_RDLCK), 0);
  EXPECT_EQ(flush(file, kOwner), 0);
  EXPECT_GE(server_.successes_of(nfs4::OP_LOCKU), 1);
  release(file);
}

// The kernel unlocks nothing of theirs (F_OFD_SETLK).
TEST_F(LockedIoRequests, ReleaseGivesUpLocksOfOpenFileDescriptions) {
  const Opened file = kernel_open("f");
  const Opened other = open_node(file.node);
  ASSERT_EQ(lock(file, 0, kLast, F_WRLCK), 0);
  release(file, /*lock_owner=*/0);
  EXPECT_GE(server_.successes_of(nfs4::OP_LOCKU), 1);
  release(other);
}

TEST_F(LockedIoRequests, ALostLockIsToldByTheNextReadWriteAndFsync) {
  server_.write_file("f", "text");
  const Opened file = kernel_open("f");
  ASSERT_EQ(lock(file, 0, kLast, F_WRLCK), 0);
  server_.fail(nfs4::OP_LOCK, nfs4::NFS4ERR_RECLAIM_CONFLICT, 100);
  server_.reboot(10);
  EXPECT_EQ(read_as(file, kOwner).error, EIO);
  EXPECT_EQ(write_as_owner(file, 0, "more"), EIO);
  EXPECT_EQ(write_as_owner(file, 0, text_of(kLarge)), EIO);
  EXPECT_EQ(flush(file, kOwner), EIO);
  EXPECT_EQ(server_.read_file("f"), "text");
  release(file);
}

}  // namespace
}  // namespace nfsrdma::fuse::test
