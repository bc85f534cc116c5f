// OPENDIR, RELEASEDIR, FSYNCDIR.
#include <chrono>
#include <filesystem>

#include "tests/fuse/ops/kernel_requests.h"

namespace nfsrdma::fuse::test {
namespace {

class OpendirRequest : public KernelRequests {
 protected:
  int pages() const { return server_.successes_of(nfs4::OP_READDIR); }
  std::size_t names(const Opened& directory) {
    return listed(ask(FUSE_READDIR, directory.node, read_in(directory, 0, 1 << 16)), false).size();
  }
  std::uint64_t made_directory(const std::string& name) {
    std::filesystem::create_directory(server_.path(name));
    return lookup(name).nodeid;
  }
};

TEST_F(OpendirRequest, AsksForThePageThatTheFirstListingHas) {
  const Opened directory = open_directory();
  EXPECT_EQ(pages(), 1);
  EXPECT_EQ(names(directory), 2U);
  EXPECT_EQ(pages(), 1);
  server_.write_file("f", "");
  EXPECT_EQ(names(directory), 3U);
  EXPECT_EQ(pages(), 2) << "from the begin it is read again";
  EXPECT_EQ(ask(FUSE_FSYNCDIR, kRoot, fuse_fsync_in{.fh = directory.fh}).error, 0);
  EXPECT_TRUE(fs_->find_directory(directory.fh));
  close_directory(directory);
  EXPECT_FALSE(fs_->find_directory(directory.fh));
}

TEST_F(OpendirRequest, ALaterListingAsksAgain) {
  const Opened directory = open_directory();
  server_.write_file("f", "");
  reactor_.advance(std::chrono::seconds(10));
  EXPECT_EQ(names(directory), 3U);
  close_directory(directory);
}

TEST_F(OpendirRequest, AListingHasTheNamesThatWereMadeHereSince) {
  const Opened directory = open_directory();
  ASSERT_EQ(ask(FUSE_MKDIR, kRoot, fuse_mkdir_in{S_IFDIR | 0755, 0}, "d").error, 0);
  EXPECT_EQ(names(directory), 3U);
  close_directory(directory);
}

// The kernel looks the path up again, and opens what is there now.
TEST_F(OpendirRequest, ADirectoryThatWasRemovedIsStale) {
  const std::uint64_t node = made_directory("d");
  std::filesystem::remove(server_.path("d"));
  std::filesystem::create_directory(server_.path("d"));
  EXPECT_EQ(ask(FUSE_OPENDIR, node, fuse_open_in{}).error, ESTALE);
  const Opened now = open_directory(lookup("d").nodeid);
  EXPECT_EQ(names(now), 2U);
  close_directory(now);
}

TEST_F(OpendirRequest, WhoMayNotReadIsRefused) {
  server_.fail(nfs4::OP_READDIR, nfs4::NFS4ERR_ACCESS);
  EXPECT_EQ(ask(FUSE_OPENDIR, kRoot, fuse_open_in{}).error, EACCES);
}

TEST_F(OpendirRequest, OtherErrorsAreThoseOfTheListing) {
  server_.fail(nfs4::OP_READDIR, nfs4::NFS4ERR_IO);
  const Opened directory = open_directory();
  EXPECT_EQ(names(directory), 2U) << "it is asked for again";
  close_directory(directory);
}

TEST_F(OpendirRequest, WhatIsNotThereIsRefused) {
  EXPECT_EQ(ask(FUSE_OPENDIR, 4711, fuse_open_in{}).error, ESTALE);
}

TEST_F(OpendirRequest, WhenNobodyTakesTheAnswerNothingIsOpen) {
  const Opened first = open_directory();
  kernel_->takes_answers = false;
  begin(FUSE_OPENDIR, kRoot, fuse_open_in{});
  reactor_.settle();
  kernel_->takes_answers = true;
  close_directory(first);
  EXPECT_FALSE(fs_->find_directory(first.fh + 1));
}

}  // namespace
}  // namespace nfsrdma::fuse::test
