// MKDIR, MKNOD, SYMLINK, LINK and READLINK: names that are made.
#include <sys/sysmacros.h>

#include "tests/fuse/ops/kernel_requests.h"

namespace nfsrdma::fuse::test {
namespace {

class MakeRequests : public KernelRequests {
 protected:
  struct stat real(const std::string& name) const {
    struct stat status {};
    EXPECT_EQ(::lstat(server_.path(name).c_str(), &status), 0) << name;
    return status;
  }
  /// What was made counts as one lookup.
  void expect_one_lookup(const Answer& made) {
    const std::uint64_t node = made.as<fuse_entry_out>().nodeid;
    EXPECT_TRUE(known(node));
    forget(node, 1);
    EXPECT_FALSE(known(node));
  }
  Answer mknod(const std::string& name, std::uint32_t mode, std::uint32_t device = 0) {
    return ask(FUSE_MKNOD, kRoot, fuse_mknod_in{mode, device, 0, 0}, name);
  }
};

TEST_F(MakeRequests, MkdirMakesADirectoryWithThatMode) {
  const Answer made = ask(FUSE_MKDIR, kRoot, fuse_mkdir_in{S_IFDIR | 0751, 0}, "d");
  ASSERT_EQ(made.error, 0);
  EXPECT_EQ(made.as<fuse_entry_out>().attr.mode, S_IFDIR | 0751U);
  EXPECT_EQ(real("d").st_mode, S_IFDIR | 0751U);
  expect_one_lookup(made);
  EXPECT_EQ(ask(FUSE_MKDIR, kRoot, fuse_mkdir_in{0755, 0}, "d").error, EEXIST);
  EXPECT_EQ(ask(FUSE_MKDIR, 4711, fuse_mkdir_in{0755, 0}, "d").error, ESTALE);
}

TEST_F(MakeRequests, MknodMakesWhatTheModeSays) {
  const Answer fifo = mknod("fifo", S_IFIFO | 0640);
  ASSERT_EQ(fifo.error, 0);
  EXPECT_EQ(real("fifo").st_mode, S_IFIFO | 0640U);
  expect_one_lookup(fifo);
  ASSERT_EQ(mknod("socket", S_IFSOCK | 0600).error, 0);
  EXPECT_TRUE(S_ISSOCK(real("socket").st_mode));
  EXPECT_EQ(mknod("fifo", S_IFIFO | 0640).error, EEXIST);
}

TEST_F(MakeRequests, MknodOfARegularFileLeavesNothingOpen) {
  const Answer made = mknod("f", S_IFREG | 0604);
  ASSERT_EQ(made.error, 0);
  reactor_.advance(std::chrono::seconds(1));
  EXPECT_EQ(real("f").st_mode, S_IFREG | 0604U);
  EXPECT_EQ(server_.successes_of(nfs4::OP_CLOSE), 1);
  EXPECT_EQ(fs_->files().unfinished().files, 0U);
  expect_one_lookup(made);
  EXPECT_EQ(mknod("f", S_IFREG | 0604).error, EEXIST);
}

TEST_F(MakeRequests, MknodPassesTheDeviceNumberOn) {
  const Answer made = mknod("device", S_IFCHR | 0600, static_cast<std::uint32_t>(makedev(1, 3)));
  if (made.error != 0) GTEST_SKIP() << "no device may be made here";
  EXPECT_EQ(made.as<fuse_entry_out>().attr.rdev, static_cast<std::uint32_t>(makedev(1, 3)));
}

TEST_F(MakeRequests, SymlinkAndReadlink) {
  const Answer made = ask(FUSE_SYMLINK, kRoot, "link", "some/target");
  ASSERT_EQ(made.error, 0);
  EXPECT_EQ(std::filesystem::read_symlink(server_.path("link")), "some/target");
  const std::uint64_t node = made.as<fuse_entry_out>().nodeid;
  EXPECT_EQ(ask(FUSE_READLINK, node).text(), "some/target");
  server_.fail(nfs4::OP_READLINK, nfs4::NFS4ERR_IO);
  EXPECT_EQ(ask(FUSE_READLINK, node).error, EIO);
  expect_one_lookup(made);
  EXPECT_EQ(ask(FUSE_READLINK, node).error, ESTALE);
  EXPECT_EQ(ask(FUSE_SYMLINK, kRoot, "link", "other").error, EEXIST);
}

TEST_F(MakeRequests, LinkGivesTheSameFileOneMoreName) {
  server_.write_file("f", "text");
  const std::uint64_t node = lookup("f").nodeid;
  const Answer made = ask(FUSE_LINK, kRoot, fuse_link_in{node}, "g");
  ASSERT_EQ(made.error, 0);
  EXPECT_EQ(made.as<fuse_entry_out>().nodeid, node);
  EXPECT_EQ(made.as<fuse_entry_out>().attr.nlink, 2U);
  EXPECT_EQ(real("g").st_nlink, 2U);
  forget(node, 1);
  EXPECT_TRUE(known(node)) << "the other name is a lookup, too";
  forget(node, 1);
  EXPECT_FALSE(known(node));
  EXPECT_EQ(ask(FUSE_LINK, kRoot, fuse_link_in{node}, "h").error, ESTALE);
}

TEST_F(MakeRequests, WhatIsMadeBelongsToTheCaller) {
  std::filesystem::permissions(server_.path("."), std::filesystem::perms(0777));
  kernel_->caller.uid = 4242;
  kernel_->caller.gid = 4243;
  ASSERT_EQ(ask(FUSE_MKDIR, kRoot, fuse_mkdir_in{0755, 0}, "d").error, 0);
  ASSERT_EQ(ask(FUSE_SYMLINK, kRoot, "l", "d").error, 0);
  ASSERT_EQ(mknod("f", S_IFREG | 0600).error, 0);
  reactor_.advance(std::chrono::seconds(1));
  for (const char* name : {"d", "l", "f"}) {
    EXPECT_EQ(real(name).st_uid, 4242U) << name;
    EXPECT_EQ(real(name).st_gid, 4243U) << name;
  }
}

}  // namespace
}  // namespace nfsrdma::fuse::test
