// SETATTR: each value that is valid and no other, and a size beside writes.
#include <fcntl.h>

#include <cerrno>
#include <filesystem>

#include "tests/fuse/ops/kernel_requests.h"

namespace nfsrdma::fuse::test {
namespace {

class SetattrRequest : public KernelRequests {
 protected:
  void SetUp() override {
    KernelRequests::SetUp();
    server_.write_file("f", "some text");
    node_ = lookup("f").nodeid;
  }
  Answer set(const fuse_setattr_in& wanted) { return ask(FUSE_SETATTR, node_, wanted); }
  fuse_attr set_well(const fuse_setattr_in& wanted) {
    const Answer answer = set(wanted);
    EXPECT_EQ(answer.error, 0);
    return answer.as<fuse_attr_out>().attr;
  }
  struct stat real() const {
    struct stat status {};
    EXPECT_EQ(::stat(server_.path("f").c_str(), &status), 0);
    return status;
  }

  std::uint64_t node_ = 0;
};

TEST_F(SetattrRequest, ModeAndOwners) {
  fuse_setattr_in wanted{.valid = FATTR_MODE, .size = 3, .mode = 04711, .uid = 1, .gid = 2};
  EXPECT_EQ(set_well(wanted).mode, S_IFREG | 04711U);
  EXPECT_EQ(real().st_mode, S_IFREG | 04711U);
  EXPECT_EQ(real().st_size, 9);
  wanted.valid = FATTR_UID | FATTR_GID;
  wanted.uid = 4242;
  wanted.gid = 4243;
  EXPECT_EQ(set_well(wanted).uid, 4242U);
  EXPECT_EQ(real().st_uid, 4242U);
  EXPECT_EQ(real().st_gid, 4243U);
}

TEST_F(SetattrRequest, SizeAndTimeInOne) {
  const fuse_setattr_in wanted{
      .valid = FATTR_SIZE | FATTR_MTIME, .size = 4, .mtime = 1000000000, .mtimensec = 5000};
  const fuse_attr answered = set_well(wanted);
  EXPECT_EQ(answered.size, 4U);
  EXPECT_EQ(answered.mtime, 1000000000U);
  EXPECT_EQ(answered.mtimensec, 5000U);
  EXPECT_EQ(server_.read_file("f"), "some");
  EXPECT_EQ(real().st_mtim.tv_sec, 1000000000);
}

TEST_F(SetattrRequest, GivenTimesAndTheServers) {
  fuse_setattr_in wanted{.valid = FATTR_ATIME | FATTR_MTIME, .atime = 11, .mtime = 22};
  set_well(wanted);
  EXPECT_EQ(real().st_atim.tv_sec, 11);
  EXPECT_EQ(real().st_mtim.tv_sec, 22);
  wanted.valid = FATTR_MTIME | FATTR_MTIME_NOW;
  set_well(wanted);
  EXPECT_EQ(real().st_atim.tv_sec, 11);
  EXPECT_GT(real().st_mtim.tv_sec, 1000000000);
}

TEST_F(SetattrRequest, WhatWasWrittenBeforeIsCutOff) {
  const Opened file = open_node(node_);
  ASSERT_EQ(write(file, 4, "-more"), 0);
  EXPECT_EQ(set_well({.valid = FATTR_SIZE | FATTR_FH, .fh = file.fh, .size = 6}).size, 6U);
  EXPECT_EQ(fsync(file), 0);
  EXPECT_EQ(server_.read_file("f"), "some-m");
  EXPECT_EQ(set_well({.valid = FATTR_SIZE, .size = 0}).size, 0U);
  EXPECT_EQ(server_.read_file("f"), "");
  release(file);
}

// Sent again after a reboot, it would come back.
TEST_F(SetattrRequest, WhatWasCutOffIsNotSentAgain) {
  server_.service().set_never_stable(true);
  const Opened file = open_node(node_, O_RDWR | O_DIRECT);
  ASSERT_EQ(write(file, 0, "0123456789"), 0);
  set_well({.valid = FATTR_SIZE, .size = 3});
  server_.write_file("f", "");
  server_.reboot(0);
  server_.service().set_never_stable(false);
  EXPECT_EQ(fsync(file), 0);
  EXPECT_EQ(server_.read_file("f"), "012");
  release(file);
}

TEST_F(SetattrRequest, TimesAreSetAfterWhatWasWrittenBefore) {
  const Opened file = open_node(node_);
  ASSERT_EQ(write(file, 0, "SOME"), 0);
  EXPECT_EQ(set_well({.valid = FATTR_MTIME, .mtime = 22}).mtime, 22U);
  EXPECT_EQ(fsync(file), 0);
  EXPECT_EQ(real().st_mtim.tv_sec, 22);
  EXPECT_EQ(server_.read_file("f"), "SOME text");
  release(file);
}

// A WRITE that is sent again sets the time, and takes set-id bits away.
TEST_F(SetattrRequest, WhatIsSetOutlastsARestartOfTheServer) {
  server_.service().set_never_stable(true);
  const Opened file = open_node(node_);
  ASSERT_EQ(write(file, 0, "SOME"), 0);
  set_well({.valid = FATTR_MTIME, .mtime = 22});
  server_.reboot(0);
  EXPECT_EQ(fsync(file), 0);
  EXPECT_EQ(real().st_mtim.tv_sec, 22);
  EXPECT_EQ(server_.read_file("f"), "SOME text");
  release(file);
}

// As cp -p does.
TEST_F(SetattrRequest, ASmallFileThatIsCopiedWithItsAttributesNeedsNoCommit) {
  const Opened file = open_node(node_);
  ASSERT_EQ(write(file, 0, "SOME"), 0);
  set_well({.valid = FATTR_MTIME | FATTR_FH, .fh = file.fh, .mtime = 22});
  set_well({.valid = FATTR_MODE | FATTR_FH, .fh = file.fh, .mode = 0600});
  EXPECT_EQ(flush(file), 0);
  EXPECT_EQ(writes(), 1);
  EXPECT_EQ(commits(), 0);
  release(file);
}

TEST_F(SetattrRequest, NothingToSetAsksNothing) {
  server_.forget_arrivals();
  EXPECT_EQ(set_well({.valid = FATTR_CTIME}).size, 9U);
  EXPECT_TRUE(server_.arrivals().empty());
}

TEST_F(SetattrRequest, ErrorsAreToldToWhoAsked) {
  server_.fail(nfs4::OP_SETATTR, nfs4::NFS4ERR_PERM);
  EXPECT_EQ(set({.valid = FATTR_MODE, .mode = 0600}).error, EPERM);
  kernel_->caller.uid = 4242;
  EXPECT_EQ(set({.valid = FATTR_MODE, .mode = 0600}).error, EPERM);
  EXPECT_EQ(ask(FUSE_SETATTR, 4711, fuse_setattr_in{.valid = FATTR_MODE}).error, ESTALE);
}

// ftruncate(2) asks no server who may write: the file was opened for that.
TEST_F(SetattrRequest, ThroughAnOpenFileItsOpenersRightCounts) {
  std::filesystem::permissions(server_.path("f"), std::filesystem::perms(0600));
  const Opened file = open_node(node_);
  kernel_->caller.uid += 4242;
  fuse_setattr_in wanted{.valid = FATTR_SIZE | FATTR_FH, .fh = file.fh, .size = 4};
  EXPECT_EQ(set(wanted).error, 0);
  EXPECT_EQ(server_.read_file("f"), "some");
  wanted.valid = FATTR_SIZE;
  wanted.size = 1;
  EXPECT_EQ(set(wanted).error, EACCES);
  release(file);
}

TEST_F(SetattrRequest, AModeThatNobodyWaitsForAnyMoreIsNotSetLater) {
  make_soft_kernel(ETIMEDOUT);
  server_.fail(nfs4::OP_SETATTR, nfs4::NFS4ERR_DELAY, 6);
  EXPECT_EQ(set({.valid = FATTR_MODE, .mode = 0600}).error, ETIMEDOUT);
  reactor_.advance(std::chrono::milliseconds(200));
  EXPECT_EQ(set({.valid = FATTR_MODE, .mode = 0644}).error, 0);
  reactor_.advance(std::chrono::seconds(20));
  EXPECT_EQ(getattr(node_).mode & 0777U, 0644U);
}

TEST_F(SetattrRequest, AModeWhoseAnswerNobodyTakesIsAskedForAgain) {
  make_soft_kernel(EIO);
  attach();
  hold(nfs4::OP_SETATTR);
  EXPECT_EQ(set({.valid = FATTR_MODE, .mode = 0600}).error, EIO);
  EXPECT_FALSE(attributes_dropped(node_));
  let_go();
  wait_for_thread([&] { return attributes_dropped(node_); });
}

// The kernel has not cut off anything: it was told that the call had failed.
TEST_F(SetattrRequest, ASizeWhoseAnswerNobodyTakesIsNotTheKernels) {
  make_soft_kernel(EIO);
  attach();
  const Opened file = open_node(node_);
  EXPECT_EQ(read(file, 0, 100).text(), "some text");
  hold(nfs4::OP_SETATTR);
  EXPECT_EQ(set({.valid = FATTR_SIZE, .size = 4}).error, EIO);
  let_go();
  reactor_.settle();
  EXPECT_EQ(server_.read_file("f"), "some");
  const KernelView& view = fs_->find_file(file.fh)->node().view();
  EXPECT_FALSE(view.size());
  wait_for_thread([&] { return !drops_of(node_).empty() && !view.may_be_dropping(); });
  release(file);
}

// soft: another program may have written the file since.
TEST_F(SetattrRequest, ASizeThatWasRefusedWhileItWaitedIsNotSetLater) {
  make_soft_kernel(EIO);
  const Opened file = open_node(node_);
  ASSERT_EQ(write(file, 0, "SOME"), 0);
  hold_writes();
  const auto refused = begin(FUSE_SETATTR, node_, fuse_setattr_in{.valid = FATTR_SIZE, .size = 4});
  EXPECT_EQ(end(refused).error, EIO);
  let_go();
  EXPECT_EQ(fsync(file), 0);
  reactor_.settle();
  EXPECT_EQ(server_.read_file("f"), "SOME text");
  release(file);
}

}  // namespace
}  // namespace nfsrdma::fuse::test
