// GETATTR: what is remembered, what is asked, and what only this client knows.
#include <fcntl.h>

#include <filesystem>
#include <string>

#include "tests/fuse/ops/kernel_requests.h"

namespace nfsrdma::fuse::test {
namespace {

class GetattrRequest : public KernelRequests {
 protected:
  int getattrs() const { return server_.successes_of(nfs4::OP_GETATTR); }
};

TEST_F(GetattrRequest, IsAnsweredFromMemoryWhileThatIsFresh) {
  server_.write_file("f", "text");
  const std::uint64_t node = lookup("f").nodeid;
  const int before = getattrs();
  EXPECT_EQ(getattr(node).size, 4U);
  EXPECT_EQ(getattrs(), before);
  reactor_.advance(std::chrono::minutes(2));
  server_.write_file("f", "longer text");
  EXPECT_EQ(getattr(node).size, 11U);
  EXPECT_EQ(getattrs(), before + 1);
}

// AT_STATX_FORCE_SYNC of statx(2), and the kernel's look at the mode that has refused something.
TEST_F(GetattrRequest, WhatTheKernelNeedNotAskForIsAskedForAtTheServer) {
  server_.write_file("f", "text");
  const std::uint64_t node = lookup("f").nodeid;
  server_.write_file("f", "longer text");
  EXPECT_EQ(getattr_early(node).size, 11U);
  server_.write_file("f", "a still longer text");
  EXPECT_EQ(getattr_early(node).size, 19U) << "it was told of these attributes, too";
}

TEST_F(GetattrRequest, AfterReadingTheKernelAsksByItself) {
  attach();
  server_.write_file("f", "text");
  std::filesystem::create_symlink("f", server_.path("link"));
  const Opened file = kernel_open("f");
  const std::uint64_t link = lookup("link").nodeid;
  const auto costs_nothing = [this](std::uint64_t node) {
    const int before = getattrs();
    getattr_early(node);
    EXPECT_EQ(getattrs(), before);
  };
  EXPECT_EQ(read(file, 0, 4).error, 0);
  costs_nothing(file.node);
  EXPECT_EQ(ask(FUSE_READLINK, link).error, 0);
  costs_nothing(link);
  getattr(kRoot);
  const Opened directory = open_directory();
  EXPECT_EQ(ask(FUSE_READDIR, kRoot, read_in(directory, 0, 4096)).error, 0);
  costs_nothing(kRoot);
  close_directory(directory);
  fs_->kernel().drop_attributes(*fs_->inodes().find(file.node));
  costs_nothing(file.node);
  release(file);
}

TEST_F(GetattrRequest, ShowsWhatWasWrittenHere) {
  const Opened file = kernel_open("f");
  ASSERT_EQ(write(file, 100, "text"), 0);
  EXPECT_EQ(writes(), 0);
  EXPECT_EQ(getattr(file.node).size, 104U);
  EXPECT_EQ(writes(), 1) << "the times are the server's";
  release(file);
}

TEST_F(GetattrRequest, SizeAndTimesMayBeRememberedOnlyWhileNothingIsGathered) {
  FileRef file = open("f");
  EXPECT_GT(fs_->kernel().attribute_timeout(file->node()), 0);
  ASSERT_TRUE(gather(file, 10, "tail"));
  EXPECT_EQ(fs_->kernel().stat_of(file->node()).st_size, 14);
  EXPECT_EQ(fs_->kernel().attribute_timeout(file->node()), 0);
  ServedFiles::flush(file);
  EXPECT_EQ(fs_->kernel().stat_of(file->node()).st_size, 14);
  EXPECT_GT(fs_->kernel().attribute_timeout(file->node()), 0);
}

// A reply to WRITE has the attributes of the data, and no others.
TEST_F(GetattrRequest, AWriteDoesNotRenewWhatItDoesNotTell) {
  server_.write_file("f", "text");
  std::filesystem::create_hard_link(server_.path("f"), server_.path("g"));
  const Opened file = kernel_open("f");
  EXPECT_EQ(getattr(file.node).nlink, 2U);
  lookup("g");
  ASSERT_EQ(ask(FUSE_UNLINK, kRoot, "g").error, 0);
  ASSERT_EQ(write(file, 0, "TEXT"), 0);
  EXPECT_EQ(getattr(file.node).nlink, 1U);
  release(file);
}

TEST_F(GetattrRequest, AFileThatIsAlwaysWrittenIsAskedForNowAndThen) {
  server_.write_file("f", "text");
  const Opened file = kernel_open("f");
  std::filesystem::permissions(server_.path("f"), std::filesystem::perms(0640));
  std::uint32_t mode = 0;
  for (int second = 0; second < 120; ++second) {
    ASSERT_EQ(write(file, 0, std::to_string(second)), 0);
    mode = getattr(file.node).mode & 0777;
    reactor_.advance(std::chrono::seconds(1));
  }
  EXPECT_EQ(mode, 0640U);
  release(file);
}

TEST_F(GetattrRequest, AFileIsNotAskedForBecauseAnotherIsMade) {
  const Opened file = kernel_open("f");
  release(kernel_open("g"));
  const int before = getattrs();
  getattr(file.node);
  EXPECT_EQ(getattrs(), before);
  release(file);
}

TEST_F(GetattrRequest, TheSillyNameIsNoLink) {
  server_.write_file("f", "");
  const Opened file = kernel_open("f");
  ASSERT_EQ(ask(FUSE_UNLINK, kRoot, "f").error, 0);
  EXPECT_EQ(getattr(file.node).nlink, 0U);
  release(file);
}

TEST_F(GetattrRequest, ErrorsAreTold) {
  server_.write_file("f", "");
  const std::uint64_t node = lookup("f").nodeid;
  reactor_.advance(std::chrono::minutes(2));
  server_.fail(nfs4::OP_GETATTR, nfs4::NFS4ERR_STALE);
  EXPECT_EQ(ask(FUSE_GETATTR, node, fuse_getattr_in{}).error, ESTALE);
  EXPECT_EQ(ask(FUSE_GETATTR, 4711, fuse_getattr_in{}).error, ESTALE);
}

TEST_F(GetattrRequest, TimesOwnersAndTypesAreThoseOfTheFile) {
  server_.write_file("f", "text");
  const fuse_attr attributes = getattr(lookup("f").nodeid);
  struct stat real {};
  ASSERT_EQ(::stat(server_.path("f").c_str(), &real), 0);
  EXPECT_EQ(attributes.mode, real.st_mode);
  EXPECT_EQ(attributes.uid, real.st_uid);
  EXPECT_EQ(attributes.gid, real.st_gid);
  EXPECT_EQ(attributes.nlink, 1U);
  EXPECT_EQ(attributes.mtime, static_cast<std::uint64_t>(real.st_mtim.tv_sec));
  EXPECT_EQ(attributes.mtimensec, static_cast<std::uint32_t>(real.st_mtim.tv_nsec));
}

}  // namespace
}  // namespace nfsrdma::fuse::test
