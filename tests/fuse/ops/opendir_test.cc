// OPENDIR, RELEASEDIR, FSYNCDIR: nothing that the server is asked.
#include "tests/fuse/ops/kernel_requests.h"

namespace nfsrdma::fuse::test {
namespace {

class OpendirRequest : public KernelRequests {};

TEST_F(OpendirRequest, TheServerIsNotAsked) {
  server_.forget_arrivals();
  const Opened directory = open_directory();
  EXPECT_EQ(ask(FUSE_FSYNCDIR, kRoot, fuse_fsync_in{.fh = directory.fh}).error, 0);
  EXPECT_TRUE(fs_->find_directory(directory.fh));
  close_directory(directory);
  EXPECT_FALSE(fs_->find_directory(directory.fh));
  EXPECT_TRUE(server_.arrivals().empty());
}

TEST_F(OpendirRequest, WhatIsNotThereIsRefused) {
  EXPECT_EQ(ask(FUSE_OPENDIR, 4711, fuse_open_in{}).error, ESTALE);
}

TEST_F(OpendirRequest, WhenNobodyTakesTheAnswerNothingIsOpen) {
  const Opened first = open_directory();
  kernel_->takes_answers = false;
  begin(FUSE_OPENDIR, kRoot, fuse_open_in{});
  kernel_->takes_answers = true;
  close_directory(first);
  EXPECT_FALSE(fs_->find_directory(first.fh + 1));
}

}  // namespace
}  // namespace nfsrdma::fuse::test
