// FSYNC and FLUSH: what was written is durable, or a caller is told.
#include <fcntl.h>

#include "tests/fuse/ops/kernel_requests.h"

namespace nfsrdma::fuse::test {
namespace {

class FsyncRequest : public KernelRequests {};

TEST_F(FsyncRequest, CommitsWhatTheServerHasNotMadeDurable) {
  server_.service().set_never_stable(true);
  const Opened file = kernel_open("f");
  ASSERT_EQ(write(file, 0, text_of(100000)), 0);
  EXPECT_EQ(commits(), 0);
  EXPECT_EQ(fsync(file), 0);
  EXPECT_EQ(commits(), 1);
  EXPECT_EQ(fsync(file), 0);
  EXPECT_EQ(commits(), 1) << "nothing is left to be committed";
  release(file);
}

TEST_F(FsyncRequest, AFailedWriteBehindIsToldOnceToEachOpenFile) {
  const Opened one = kernel_open("f");
  const Opened two = open_node(one.node);
  ASSERT_EQ(write(one, 0, "text"), 0);
  server_.fail(nfs4::OP_WRITE, nfs4::NFS4ERR_DQUOT);
  EXPECT_EQ(fsync(one), EDQUOT);
  EXPECT_EQ(fsync(one), 0);
  EXPECT_EQ(flush(one), 0);
  EXPECT_EQ(fsync(two), EDQUOT);
  EXPECT_EQ(flush(two), 0);
  release(one);
  release(two);
}

// fork(2) and execve(2) close the descriptors that a child has inherited.
TEST_F(FsyncRequest, ACloseByAChildLeavesTheErrorToTheWriter) {
  const Opened file = kernel_open("f");
  ASSERT_EQ(write(file, 0, "text"), 0);
  server_.fail(nfs4::OP_WRITE, nfs4::NFS4ERR_NOSPC);
  EXPECT_EQ(flush(file), ENOSPC);
  EXPECT_EQ(flush(file), ENOSPC) << "the next one to close may be the writer";
  EXPECT_EQ(fsync(file), ENOSPC);
  EXPECT_EQ(flush(file), 0);
  release(file);
}

TEST_F(FsyncRequest, WhatACloseHasToldIsNotToldByTheCloseOfALaterOpen) {
  const Opened reader = kernel_open("f", O_RDONLY);
  const Opened file = open_node(reader.node);
  ASSERT_EQ(write(file, 0, "text"), 0);
  server_.fail(nfs4::OP_WRITE, nfs4::NFS4ERR_NOSPC);
  EXPECT_EQ(flush(file), ENOSPC);
  release(file);
  const Opened later = open_node(reader.node);
  EXPECT_EQ(flush(later), 0);
  EXPECT_EQ(fsync(later), ENOSPC);
  release(later);
  release(reader);
}

TEST_F(FsyncRequest, ShowsWhatOthersHaveSynced) {
  attach();
  server_.write_file("f", "before");
  const Opened file = kernel_open("f");
  EXPECT_EQ(read(file, 0, 100).text(), "before");
  server_.write_file("f", "others");
  EXPECT_EQ(fsync(file), 0);
  EXPECT_EQ(drops_of(file.node).size(), 1U);
  EXPECT_EQ(read(file, 0, 100).text(), "others");
  release(file);
}

TEST_F(FsyncRequest, AsksForAttributesInTheRequestOfItsCommit) {
  server_.service().set_never_stable(true);
  const Opened file = kernel_open("f");
  ASSERT_EQ(write(file, 0, text_of(100000)), 0);
  EXPECT_EQ(getattr(file.node).size, 100000U) << "it is sent";
  int alone = 0;
  int together = 0;
  server_.fate = [&](const client::test::Arrival& arrival) {
    const bool commits = arrival.has(nfs4::OP_COMMIT);
    if (arrival.has(nfs4::OP_GETATTR)) ++(commits ? together : alone);
    return client::test::Fate::answer;
  };
  EXPECT_EQ(fsync(file), 0);
  EXPECT_EQ(together, 1);
  EXPECT_EQ(alone, 0);
  EXPECT_EQ(flush(file), 0);
  EXPECT_EQ(alone, 0);
  server_.fate = nullptr;
  release(file);
}

TEST_F(FsyncRequest, AFailedCommitIsTold) {
  const Opened file = kernel_open("f");
  ASSERT_EQ(write(file, 0, text_of(cache::GatheredWrite::kGatherBelow)), 0);
  server_.fail(nfs4::OP_COMMIT, nfs4::NFS4ERR_IO);
  EXPECT_EQ(fsync(file), EIO);
  release(file);
}

TEST_F(FsyncRequest, WhoIsNotToldLeavesTheErrorToTheNext) {
  const Opened file = kernel_open("f");
  ASSERT_EQ(write(file, 0, "text"), 0);
  server_.fail(nfs4::OP_WRITE, nfs4::NFS4ERR_NOSPC);
  kernel_->takes_answers = false;
  begin(FUSE_FSYNC, file.node, fuse_fsync_in{.fh = file.fh});
  reactor_.advance(std::chrono::seconds(1));
  kernel_->takes_answers = true;
  EXPECT_EQ(fsync(file), ENOSPC);
  EXPECT_EQ(fsync(file), 0);
  release(file);
}

TEST_F(FsyncRequest, CloseSendsWhatWasWritten) {
  const Opened file = kernel_open("f");
  ASSERT_EQ(write(file, 0, "text"), 0);
  EXPECT_EQ(flush(file), 0);
  EXPECT_EQ(server_.read_file("f"), "text");
  release(file);
}

TEST_F(FsyncRequest, ClosingAFileThatWasReadAsksNothing) {
  const Opened file = kernel_open("f", O_RDONLY);
  server_.forget_arrivals();
  EXPECT_EQ(flush(file), 0);
  EXPECT_TRUE(server_.arrivals().empty());
  release(file);
}

TEST_F(FsyncRequest, CloseGivesUpTheProcesssLocks) {
  const Opened file = kernel_open("f");
  const fuse_lk_in lock{file.fh, /*owner=*/7, {0, 9, F_WRLCK, 0}, 0, 0};
  ASSERT_EQ(ask(FUSE_SETLK, file.node, lock).error, 0);
  EXPECT_EQ(flush(file, /*lock_owner=*/8), 0);
  const fuse_lk_in other{file.fh, /*owner=*/9, {0, 9, F_WRLCK, 0}, 0, 0};
  EXPECT_EQ(ask(FUSE_SETLK, file.node, other).error, EAGAIN) << "another process has closed";
  EXPECT_EQ(flush(file, /*lock_owner=*/7), 0);
  EXPECT_EQ(ask(FUSE_SETLK, file.node, other).error, 0);
  EXPECT_EQ(flush(file, /*lock_owner=*/9), 0);
  release(file);
}

TEST_F(FsyncRequest, WhatIsNotOpenIsRefused) {
  EXPECT_EQ(fsync({kRoot, 4711}), EBADF);
  EXPECT_EQ(flush({kRoot, 4711}), EBADF);
}

}  // namespace
}  // namespace nfsrdma::fuse::test
