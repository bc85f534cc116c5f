// GETLK, SETLK and SETLKW: whose lock, on which bytes, and who waits.
#include <fcntl.h>

#include "tests/fuse/ops/kernel_requests.h"

namespace nfsrdma::fuse::test {
namespace {

using client::test::Arrival;
using client::test::Fate;

class LockRequests : public KernelRequests {
 protected:
  static constexpr std::uint64_t kOne = 11;
  static constexpr std::uint64_t kTwo = 22;

  void SetUp() override {
    KernelRequests::SetUp();
    file_ = kernel_open("f");
  }
  void TearDown() override {
    flush(file_, kOne);
    flush(file_, kTwo);
    release(file_);
    KernelRequests::TearDown();
  }
  fuse_lk_in lock_in(std::uint64_t owner, std::uint64_t first, std::uint64_t last, int type,
                     std::uint32_t flags = 0) const {
    return {file_.fh, owner, {first, last, static_cast<std::uint32_t>(type), 1234}, flags, 0};
  }
  int lock(std::uint64_t owner, std::uint64_t first, std::uint64_t last, int type,
           std::uint32_t flags = 0) {
    return ask(FUSE_SETLK, file_.node, lock_in(owner, first, last, type, flags)).error;
  }
  fuse_file_lock test(std::uint64_t owner, std::uint64_t first, std::uint64_t last, int type) {
    const Answer answer = ask(FUSE_GETLK, file_.node, lock_in(owner, first, last, type));
    EXPECT_EQ(answer.error, 0);
    return answer.as<fuse_lk_out>().lk;
  }

  Opened file_;
};

TEST_F(LockRequests, ALockKeepsOthersOffItsBytes) {
  EXPECT_EQ(lock(kOne, 10, 19, F_WRLCK), 0);
  EXPECT_EQ(lock(kTwo, 19, 25, F_WRLCK), EAGAIN);
  EXPECT_EQ(lock(kTwo, 20, 25, F_WRLCK), 0);
  EXPECT_EQ(lock(kTwo, 0, 9, F_WRLCK), 0);
  EXPECT_EQ(lock(kTwo, 0, 10, F_RDLCK), EAGAIN);
  EXPECT_EQ(lock(kOne, 10, 10, F_RDLCK), 0) << "its own";
  EXPECT_EQ(lock(kTwo, 10, 10, F_RDLCK), 0) << "shared by now";
}

TEST_F(LockRequests, UnlockingGivesBackTheseBytesOnly) {
  EXPECT_EQ(lock(kOne, 0, kLast, F_WRLCK), 0);
  EXPECT_EQ(lock(kOne, 5, 9, F_UNLCK), 0);
  EXPECT_EQ(lock(kTwo, 5, 9, F_WRLCK), 0);
  EXPECT_EQ(lock(kTwo, 9, 10, F_WRLCK), EAGAIN);
  EXPECT_EQ(lock(kTwo, 1000000, 1000000, F_WRLCK), EAGAIN);
}

TEST_F(LockRequests, GetlkTellsWhatIsInTheWay) {
  EXPECT_EQ(test(kTwo, 0, kLast, F_WRLCK).type, static_cast<std::uint32_t>(F_UNLCK));
  ASSERT_EQ(lock(kOne, 10, 19, F_RDLCK), 0);
  const fuse_file_lock found = test(kTwo, 15, kLast, F_WRLCK);
  EXPECT_EQ(found.type, static_cast<std::uint32_t>(F_RDLCK));
  EXPECT_EQ(found.start, 10U);
  EXPECT_EQ(found.end, 19U);
  EXPECT_EQ(test(kTwo, 15, 15, F_RDLCK).type, static_cast<std::uint32_t>(F_UNLCK));
  EXPECT_EQ(test(kTwo, 20, kLast, F_WRLCK).type, static_cast<std::uint32_t>(F_UNLCK));
  EXPECT_EQ(test(kOne, 10, 19, F_WRLCK).type, static_cast<std::uint32_t>(F_UNLCK));
  ASSERT_EQ(lock(kOne, 100, kLast, F_WRLCK), 0);
  EXPECT_EQ(test(kTwo, 200, 200, F_RDLCK).end, kLast);
}

TEST_F(LockRequests, FlockLocksTheWholeFile) {
  EXPECT_EQ(lock(kOne, 0, 0, F_WRLCK, FUSE_LK_FLOCK), 0);
  EXPECT_EQ(lock(kTwo, 0, 0, F_RDLCK, FUSE_LK_FLOCK), EAGAIN);
  EXPECT_EQ(lock(kOne, 0, 0, F_UNLCK, FUSE_LK_FLOCK), 0);
  EXPECT_EQ(lock(kTwo, 0, 0, F_WRLCK, FUSE_LK_FLOCK), 0);
  EXPECT_EQ(lock(kTwo, 0, 0, F_UNLCK, FUSE_LK_FLOCK), 0);
}

TEST_F(LockRequests, SetlkwWaitsForTheLock) {
  ASSERT_EQ(lock(kOne, 0, 9, F_WRLCK), 0);
  const auto waiting = begin(FUSE_SETLKW, file_.node, lock_in(kTwo, 0, 9, F_WRLCK));
  reactor_.advance(std::chrono::seconds(20));
  EXPECT_FALSE(kernel_->answered(waiting));
  ASSERT_EQ(lock(kOne, 0, 9, F_UNLCK), 0);
  EXPECT_EQ(end(waiting).error, 0);
  EXPECT_EQ(lock(kOne, 0, 9, F_WRLCK), EAGAIN);
}

TEST_F(LockRequests, ASignalEndsTheWait) {
  ASSERT_EQ(lock(kOne, 0, 9, F_WRLCK), 0);
  const auto waiting = begin(FUSE_SETLKW, file_.node, lock_in(kTwo, 0, 9, F_WRLCK));
  reactor_.settle();
  kernel_->interrupt(waiting);
  EXPECT_EQ(end(waiting).error, EINTR);
  EXPECT_EQ(kernel_->counters().interrupts.value(), 1U);
  ASSERT_EQ(lock(kOne, 0, 9, F_UNLCK), 0);
  reactor_.advance(std::chrono::minutes(1));
  EXPECT_EQ(lock(kOne, 0, 9, F_WRLCK), 0) << "it does not get the lock later";
}

// A soft mount: no caller waits any more for what would be granted later.
TEST_F(LockRequests, AWaiterThatIsAnsweredEarlyAsksNoMore) {
  AnswerLimit limit;
  limit.longest = std::chrono::seconds(1);
  limit.error_number = ETIMEDOUT;
  limit.waiting_since = [] { return TimePoint{}; };
  make_kernel(limit);
  ASSERT_EQ(lock(kOne, 0, 9, F_WRLCK), 0);
  EXPECT_EQ(end(begin(FUSE_SETLKW, file_.node, lock_in(kTwo, 0, 9, F_WRLCK))).error, ETIMEDOUT);
  ASSERT_EQ(lock(kOne, 0, 9, F_UNLCK), 0);
  reactor_.advance(std::chrono::minutes(1));
  EXPECT_EQ(server_.successes_of(nfs4::OP_LOCK), 1);
}

TEST_F(LockRequests, ALockThatNobodyTakesIsGivenBack) {
  kernel_->takes_answers = false;
  begin(FUSE_SETLK, file_.node, lock_in(kOne, 0, 9, F_WRLCK));
  reactor_.advance(std::chrono::seconds(1));
  kernel_->takes_answers = true;
  EXPECT_EQ(lock(kTwo, 0, 9, F_WRLCK), 0);
}

// Another process may have the same open file, and rely on what it has locked before.
TEST_F(LockRequests, ALockThatNobodyTakesLeavesWhatItReplaced) {
  ASSERT_EQ(lock(kOne, 0, 4, F_WRLCK), 0);
  ASSERT_EQ(lock(kOne, 6, 6, F_RDLCK), 0);
  ASSERT_EQ(lock(kOne, 8, 9, F_RDLCK), 0);
  kernel_->takes_answers = false;
  begin(FUSE_SETLK, file_.node, lock_in(kOne, 0, 9, F_WRLCK));
  reactor_.advance(std::chrono::seconds(1));
  kernel_->takes_answers = true;
  EXPECT_EQ(lock(kTwo, 5, 5, F_WRLCK), 0);
  EXPECT_EQ(lock(kTwo, 7, 7, F_WRLCK), 0);
  EXPECT_EQ(lock(kTwo, 6, 6, F_RDLCK), 0) << "shared again";
  EXPECT_EQ(lock(kTwo, 6, 6, F_WRLCK), EAGAIN);
  EXPECT_EQ(lock(kTwo, 8, 9, F_RDLCK), 0) << "shared again";
  EXPECT_EQ(lock(kTwo, 8, 9, F_WRLCK), EAGAIN);
  EXPECT_EQ(lock(kTwo, 0, 4, F_RDLCK), EAGAIN);
}

// Its caller was killed, or given up by a soft mount, and its file is closed before the answer.
TEST_F(LockRequests, ALockOfAFileThatIsClosedMeanwhileIsGone) {
  make_soft_kernel(ETIMEDOUT);
  const Opened closed = open_node(file_.node);
  server_.fate = [](const Arrival& arrival) {
    const bool looks = arrival.has(nfs4::OP_GETATTR) && !arrival.has(nfs4::OP_CLOSE);
    return looks && !arrival.has(nfs4::OP_LOCK) ? Fate::hold : Fate::answer;
  };
  fuse_lk_in wanted = lock_in(kOne, 0, 9, F_WRLCK);
  wanted.fh = closed.fh;
  EXPECT_EQ(end(begin(FUSE_SETLK, file_.node, wanted)).error, ETIMEDOUT);
  release(closed, kOne);
  EXPECT_EQ(kernel_->in_flight().running(), 1U) << "it has the attributes to fetch";
  server_.fate = nullptr;
  server_.disconnect();
  reactor_.advance(std::chrono::seconds(5));
  EXPECT_EQ(kernel_->in_flight().running(), 0U);
  EXPECT_EQ(lock(kTwo, 0, 9, F_WRLCK), 0);
}

// The open file at the server is that of another descriptor, too: no CLOSE ends the lock.
TEST_F(LockRequests, ALockThatComesWhenItsFileIsBeingClosedIsGivenBack) {
  make_soft_kernel(ETIMEDOUT);
  const Opened closed = open_node(file_.node);
  ASSERT_EQ(write(closed, 0, "text"), 0);
  server_.fate = [](const Arrival& arrival) {
    return arrival.has(nfs4::OP_WRITE) ? Fate::hold : Fate::answer;
  };
  fuse_lk_in wanted = lock_in(kOne, 0, 9, F_WRLCK);
  wanted.fh = closed.fh;
  EXPECT_EQ(end(begin(FUSE_SETLK, file_.node, wanted)).error, ETIMEDOUT);
  release(closed, kOne);
  server_.fate = nullptr;
  server_.disconnect();
  reactor_.advance(std::chrono::seconds(5));
  EXPECT_EQ(kernel_->in_flight().running(), 0U);
  EXPECT_EQ(server_.successes_of(nfs4::OP_LOCK), 1) << "it was granted";
  EXPECT_EQ(lock(kTwo, 0, 9, F_WRLCK), 0);
}

TEST_F(LockRequests, WhatWasWrittenIsDurableBeforeALockIsGivenBack) {
  server_.service().set_never_stable(true);
  ASSERT_EQ(lock(kOne, 0, 9, F_WRLCK), 0);
  ASSERT_EQ(write(file_, 0, text_of(100000)), 0);
  EXPECT_EQ(commits(), 0);
  EXPECT_EQ(lock(kOne, 0, 9, F_UNLCK), 0);
  EXPECT_EQ(commits(), 1);
}

TEST_F(LockRequests, WhatWasWrittenIsDurableBeforeAFlockEndsWithItsFile) {
  server_.service().set_never_stable(true);
  const Opened file = open_node(file_.node);
  const fuse_lk_in whole{file.fh, kOne, {0, kLast, F_WRLCK, 0}, FUSE_LK_FLOCK, 0};
  ASSERT_EQ(ask(FUSE_SETLK, file.node, whole).error, 0);
  ASSERT_EQ(write(file, 0, text_of(100000)), 0);
  int commits_before = -1;
  server_.fate = [&](const Arrival& arrival) {
    if (arrival.has(nfs4::OP_LOCKU)) commits_before = commits();
    return Fate::answer;
  };
  release(file, kOne);
  EXPECT_EQ(commits_before, 1);
}

// close(2) of any descriptor ends fcntl locks; a flock belongs to the open file.
TEST_F(LockRequests, AFlockOutlivesTheCloseOfADescriptor) {
  EXPECT_EQ(lock(kOne, 0, kLast, F_WRLCK, FUSE_LK_FLOCK), 0);
  EXPECT_EQ(flush(file_, kOne), 0);
  EXPECT_EQ(lock(kTwo, 0, kLast, F_WRLCK, FUSE_LK_FLOCK), EAGAIN);
  EXPECT_EQ(lock(kOne, 0, kLast, F_UNLCK, FUSE_LK_FLOCK), 0);
}

/// The kernel's numbers of lock owners are addresses, which it uses again.
class ReusedOwner : public LockRequests {
 protected:
  int flock(const Opened& through, std::uint64_t owner) {
    return end(begin_flock(through, owner)).error;
  }
  std::uint64_t begin_flock(const Opened& through, std::uint64_t owner) {
    return begin(FUSE_SETLK, through.node,
                 fuse_lk_in{through.fh, owner, {0, kLast, F_WRLCK, 0}, FUSE_LK_FLOCK, 0});
  }
  /// What makes a lock be given back late: it is committed before, which is held.
  void leave_uncommitted() {
    server_.service().set_never_stable(true);
    ASSERT_EQ(write(file_, 0, text_of(100000)), 0);
    hold(nfs4::OP_COMMIT);
  }
};

// RELEASE is answered before the lock is given back.
TEST_F(ReusedOwner, LocksAfterTheCloseOfTheOneBefore) {
  const Opened before = open_node(file_.node);
  ASSERT_EQ(flock(before, kOne), 0);
  leave_uncommitted();
  begin(FUSE_RELEASE, before.node, fuse_release_in{.fh = before.fh, .lock_owner = kOne});
  const Opened after = open_node(file_.node);
  const auto locking = begin_flock(after, kOne);
  reactor_.settle();
  let_go();
  EXPECT_EQ(end(locking).error, 0);
  reactor_.advance(std::chrono::seconds(5));
  EXPECT_EQ(flock(file_, kTwo), EAGAIN);
  release(after, kOne);
  EXPECT_EQ(flock(file_, kTwo), 0);
  EXPECT_EQ(lock(kTwo, 0, kLast, F_UNLCK, FUSE_LK_FLOCK), 0);
}

// Its caller was killed, or has waited for as long as timeo says.
TEST_F(ReusedOwner, LocksAfterAFlushThatWasAnsweredEarly) {
  ASSERT_EQ(lock(kOne, 0, 9, F_WRLCK), 0);
  leave_uncommitted();
  make_soft_kernel(ETIMEDOUT);
  ASSERT_EQ(flush(file_, kOne), ETIMEDOUT);
  const auto locking = begin(FUSE_SETLK, file_.node, lock_in(kOne, 0, 9, F_WRLCK));
  reactor_.settle();
  let_go();
  EXPECT_EQ(end(locking).error, 0);
  reactor_.advance(std::chrono::seconds(5));
  EXPECT_EQ(lock(kTwo, 0, 9, F_WRLCK), EAGAIN);
}

// The kernel keeps RELEASEs back while many are under way.
TEST_F(ReusedOwner, KeepsItsLockWhenTheCloseOfTheOneBeforeIsToldLater) {
  const Opened before = open_node(file_.node);
  ASSERT_EQ(flock(before, kOne), 0);
  const Opened after = open_node(file_.node);
  ASSERT_EQ(flock(after, kOne), 0);
  release(before, kOne);
  EXPECT_EQ(flock(file_, kTwo), EAGAIN);
  release(after, kOne);
  EXPECT_EQ(flock(file_, kTwo), 0);
  EXPECT_EQ(lock(kTwo, 0, kLast, F_UNLCK, FUSE_LK_FLOCK), 0);
}

TEST_F(ReusedOwner, KeepsTheLockOfItsDescriptionLikewise) {
  const Opened before = open_node(file_.node);
  for (const Opened& through : {before, file_}) {
    fuse_lk_in wanted = lock_in(kOne, 0, 9, F_WRLCK);
    wanted.fh = through.fh;
    ASSERT_EQ(ask(FUSE_SETLK, file_.node, wanted).error, 0);
  }
  release(before);
  EXPECT_EQ(lock(kTwo, 0, 9, F_WRLCK), EAGAIN);
}

TEST_F(LockRequests, ErrorsAreTold) {
  server_.fail(nfs4::OP_LOCK, nfs4::NFS4ERR_OPENMODE);
  EXPECT_EQ(lock(kOne, 0, 9, F_WRLCK), EBADF);
  server_.fail(nfs4::OP_LOCKT, nfs4::NFS4ERR_ACCESS);
  EXPECT_EQ(ask(FUSE_GETLK, file_.node, lock_in(kOne, 0, 9, F_WRLCK)).error, EACCES);
  EXPECT_EQ(ask(FUSE_SETLK, file_.node, fuse_lk_in{.fh = 4711}).error, EBADF);
}

}  // namespace
}  // namespace nfsrdma::fuse::test
