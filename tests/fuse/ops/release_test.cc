// RELEASE: the answer first, then the close.
#include <fcntl.h>

#include <cerrno>
#include <filesystem>

#include "tests/fuse/ops/kernel_requests.h"

namespace nfsrdma::fuse::test {
namespace {

using client::test::Arrival;
using client::test::Fate;

class ReleaseRequest : public KernelRequests {};

TEST_F(ReleaseRequest, ClosesTheFileAtTheServer) {
  const Opened file = kernel_open("f");
  release(file);
  EXPECT_EQ(server_.successes_of(nfs4::OP_CLOSE), 1);
  EXPECT_EQ(read(file, 0, 1).error, EBADF);
}

TEST_F(ReleaseRequest, IsAnsweredBeforeTheServerHasClosed) {
  const Opened file = kernel_open("f");
  server_.fate = [](const Arrival& arrival) {
    return arrival.has(nfs4::OP_CLOSE) ? Fate::hold : Fate::answer;
  };
  const auto answer = begin(FUSE_RELEASE, file.node, fuse_release_in{.fh = file.fh});
  ASSERT_TRUE(kernel_->answered(answer));
  EXPECT_EQ(kernel_->take_answer(answer).error, 0);
  EXPECT_EQ(kernel_->in_flight().running(), 1U);
  server_.fate = nullptr;
  server_.disconnect();
  reactor_.advance(std::chrono::seconds(5));
}

TEST_F(ReleaseRequest, GivesBackLocksOfTheOpenFile) {
  const Opened file = kernel_open("f");
  const Opened other = open_node(file.node);
  const fuse_lk_in whole{file.fh, /*owner=*/7, {0, kLast, F_WRLCK, 0}, FUSE_LK_FLOCK, 0};
  ASSERT_EQ(ask(FUSE_SETLK, file.node, whole).error, 0);
  const fuse_lk_in later{other.fh, /*owner=*/8, {0, kLast, F_WRLCK, 0}, FUSE_LK_FLOCK, 0};
  EXPECT_EQ(ask(FUSE_SETLK, file.node, later).error, EAGAIN);
  release(file, /*lock_owner=*/7);
  EXPECT_EQ(ask(FUSE_SETLK, file.node, later).error, 0);
  release(other, /*lock_owner=*/8);
}

TEST_F(ReleaseRequest, WhatTheLastFlushDidNotSeeIsSent) {
  const Opened file = kernel_open("f");
  ASSERT_EQ(write(file, 0, "text"), 0);
  release(file);
  EXPECT_EQ(server_.read_file("f"), "text");
}

TEST_F(ReleaseRequest, WhatIsNotOpenIsRefused) {
  EXPECT_EQ(ask(FUSE_RELEASE, kRoot, fuse_release_in{.fh = 4711}).error, EBADF);
}

// The kernel does not wait for RELEASE: the next system call may be ahead of the close.
TEST_F(ReleaseRequest, ADirectoryWaitsForARemovedFileThatIsBeingClosed) {
  std::filesystem::create_directory(server_.path("d"));
  server_.write_file("d/f", "text");
  const std::uint64_t directory = lookup("d").nodeid;
  const Opened file = open_node(lookup("f", directory).nodeid);
  ASSERT_EQ(ask(FUSE_UNLINK, directory, std::string("f")).error, 0);
  hold(nfs4::OP_CLOSE);
  EXPECT_EQ(ask(FUSE_RELEASE, file.node, fuse_release_in{.fh = file.fh}).error, 0);
  const auto removed = begin(FUSE_RMDIR, kRoot, std::string("d"));
  reactor_.settle();
  EXPECT_FALSE(kernel_->answered(removed));
  let_go();
  EXPECT_EQ(end(removed).error, 0);
  EXPECT_FALSE(server_.exists("d"));
  reactor_.advance(std::chrono::seconds(5));
}

// Its caller was killed, or has waited for as long as timeo says.
TEST_F(ReleaseRequest, TheCloseFollowsAWriteThatWasAnsweredEarly) {
  make_soft_kernel(ETIMEDOUT);
  const Opened file = kernel_open("f", O_WRONLY | O_DIRECT);
  hold_writes();
  EXPECT_EQ(write(file, 0, "text"), ETIMEDOUT);
  EXPECT_EQ(ask(FUSE_RELEASE, file.node, fuse_release_in{.fh = file.fh}).error, 0);
  reactor_.settle();
  EXPECT_EQ(server_.successes_of(nfs4::OP_CLOSE), 0);
  let_go();
  reactor_.advance(std::chrono::seconds(5));
  EXPECT_EQ(server_.successes_of(nfs4::OP_CLOSE), 1);
  EXPECT_EQ(server_.read_file("f"), "text");
}

}  // namespace
}  // namespace nfsrdma::fuse::test
