// RENAME and RENAME2.
#include <fcntl.h>

#include "tests/fuse/ops/kernel_requests.h"

namespace nfsrdma::fuse::test {
namespace {

class RenameRequest : public KernelRequests {
 protected:
  int names() const {
    const auto all = std::filesystem::directory_iterator(server_.path("."));
    return static_cast<int>(std::distance(std::filesystem::begin(all), std::filesystem::end(all)));
  }
  int rename(const std::string& from, const std::string& to, std::uint64_t new_parent = kRoot) {
    return ask(FUSE_RENAME, kRoot, fuse_rename_in{new_parent}, from, to).error;
  }
};

TEST_F(RenameRequest, GivesAFileAnotherName) {
  server_.write_file("f", "text");
  EXPECT_EQ(rename("f", "g"), 0);
  EXPECT_FALSE(server_.exists("f"));
  EXPECT_EQ(server_.read_file("g"), "text");
  EXPECT_EQ(rename("f", "g"), ENOENT);
}

TEST_F(RenameRequest, MovesBetweenDirectories) {
  server_.write_file("f", "text");
  std::filesystem::create_directory(server_.path("d"));
  const std::uint64_t directory = lookup("d").nodeid;
  getattr(directory);
  EXPECT_EQ(rename("f", "g", directory), 0);
  EXPECT_EQ(server_.read_file("d/g"), "text");
  const int before = server_.successes_of(nfs4::OP_GETATTR);
  getattr(directory);
  getattr(kRoot);
  EXPECT_EQ(server_.successes_of(nfs4::OP_GETATTR), before + 2) << "both have changed";
  EXPECT_EQ(rename("f", "g", 4711), ESTALE);
}

// What replaced it has got its other name back then.
TEST_F(RenameRequest, ARenameThatNobodyWaitsForAnyMoreIsNotMadeLater) {
  make_soft_kernel(ETIMEDOUT);
  server_.write_file("f", "new");
  const Opened file = kernel_open("g");
  server_.fail(nfs4::OP_RENAME, nfs4::NFS4ERR_DELAY, 6);
  server_.fail(nfs4::OP_REMOVE, nfs4::NFS4ERR_DELAY, 1);
  EXPECT_EQ(rename("f", "g"), ETIMEDOUT);
  reactor_.advance(std::chrono::seconds(20));
  EXPECT_EQ(server_.read_file("f"), "new");
  EXPECT_EQ(server_.read_file("g"), "");
  EXPECT_EQ(server_.failures_left(nfs4::OP_REMOVE), 0);
  EXPECT_EQ(names(), 2) << "the silly name is gone";
  release(file);
}

TEST_F(RenameRequest, KnowsNoFlags) {
  server_.write_file("f", "f");
  server_.write_file("g", "g");
  for (const std::uint32_t flags : {RENAME_NOREPLACE, RENAME_EXCHANGE}) {
    EXPECT_EQ(ask(FUSE_RENAME2, kRoot, fuse_rename2_in{kRoot, flags, 0}, "f", "g").error, EINVAL);
  }
  EXPECT_EQ(server_.read_file("g"), "g");
  EXPECT_EQ(ask(FUSE_RENAME2, kRoot, fuse_rename2_in{kRoot, 0, 0}, "f", "g").error, 0);
  EXPECT_EQ(server_.read_file("g"), "f");
}

TEST_F(RenameRequest, WhatReplacesAFileHasItsDataByThen) {
  const Opened file = kernel_open("new");
  ASSERT_EQ(write(file, 0, "text"), 0);
  EXPECT_EQ(rename("new", "f"), 0);
  EXPECT_EQ(server_.read_file("f"), "text");
  release(file);
}

TEST_F(RenameRequest, WaitsForWritesOfItsFileOnly) {
  server_.write_file("other", "text");
  lookup("other");
  const Opened file = kernel_open("f");
  hold_writes();
  ASSERT_EQ(write(file, 0, text_of(kLarge)), 0);
  EXPECT_EQ(rename("other", "another"), 0);
  const auto renaming = begin(FUSE_RENAME, kRoot, fuse_rename_in{kRoot}, "f", "g");
  reactor_.settle();
  EXPECT_EQ(server_.successes_of(nfs4::OP_RENAME), 1);
  let_go();
  EXPECT_EQ(end(renaming).error, 0);
  EXPECT_EQ(server_.read_file("g").size(), kLarge);
  release(file);
}

// The kernel knows the file by another of its names.
TEST_F(RenameRequest, WaitsForWritesThroughAnotherName) {
  const Opened file = kernel_open("f");
  std::filesystem::create_hard_link(server_.path("f"), server_.path("g"));
  lookup("g");
  ASSERT_EQ(write(file, 0, "text"), 0);
  EXPECT_EQ(rename("g", "h"), 0);
  EXPECT_EQ(server_.read_file("h"), "text");
  release(file);
}

TEST_F(RenameRequest, AnOpenFileThatIsReplacedStaysUsable) {
  server_.write_file("f", "old");
  server_.write_file("g", "new");
  const Opened file = kernel_open("f");
  EXPECT_EQ(rename("g", "f"), 0);
  EXPECT_EQ(server_.read_file("f"), "new");
  EXPECT_EQ(read(file, 0, 10).text(), "old");
  release(file);
  EXPECT_EQ(names(), 1) << "the silly name is gone";
}

TEST_F(RenameRequest, AFailedOneLeavesAnOpenFileItsName) {
  server_.write_file("f", "old");
  server_.write_file("g", "new");
  const Opened file = kernel_open("f");
  server_.fail(nfs4::OP_RENAME, nfs4::NFS4ERR_ACCESS, 2);
  EXPECT_EQ(rename("g", "f"), EACCES);
  EXPECT_EQ(server_.read_file("f"), "old");
  EXPECT_EQ(getattr(file.node).nlink, 1U);
  EXPECT_EQ(names(), 2) << "no silly name";
  release(file);
  EXPECT_TRUE(server_.exists("f"));
}

}  // namespace
}  // namespace nfsrdma::fuse::test
