// Names that are looked up, made and listed on a served directory: what the cache knows afterwards.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <set>
#include <string>

#include "cache/name/list_names.h"
#include "cache/name/make_names.h"
#include "client/requests/errno.h"
#include "tests/cache/served_files.h"

namespace nfsrdma::cache::test {
namespace {

class NamesTest : public ServedFiles {
 protected:
  InodeRef found(const std::string& name) {
    auto inode = run(cache::lookup(files().attributes(), caller(), root_, name));
    EXPECT_TRUE(inode) << inode.error().message();
    return inode ? *inode : InodeRef();
  }
  InodeRef node(const std::string& name, mode_t mode, dev_t device = 0) {
    auto made = run(make_node(files().attributes(), caller(), root_, name, mode, device));
    EXPECT_TRUE(made) << made.error().message();
    return made ? *made : InodeRef();
  }
  DirectoryRef directory() { return DirectoryRef(new Directory(reactor_, root_)); }
  Result<bool> list(const DirectoryRef& from, std::uint64_t cookie = 0) {
    return run(list_from(files().attributes(), caller(), from, cookie));
  }
  static const FileAttributes& of(const InodeRef& inode) { return inode->attributes().value(); }
};

TEST_F(NamesTest, ANameThatIsMissingIsNoError) {
  EXPECT_FALSE(found("missing"));
  server_.fail(nfs4::OP_LOOKUP, nfs4::NFS4ERR_IO);
  EXPECT_FALSE(run(cache::lookup(files().attributes(), caller(), root_, "missing")));
}

TEST_F(NamesTest, WhatIsFoundHasItsAttributesAndADirectoryItsParent) {
  server_.write_file("f", "text");
  std::filesystem::create_directory(server_.path("d"));
  const InodeRef file = found("f");
  EXPECT_EQ(of(file).size, 4U);
  EXPECT_TRUE(files().attributes().fresh(*file));
  EXPECT_EQ(found("f"), file);
  EXPECT_EQ(found("d")->parent_fileid(), of(root_).fileid);
}

TEST_F(NamesTest, WhatCannotBeAdoptedIsAnError) {
  server_.write_file("f", "");
  inodes_.most = inodes_.count();
  EXPECT_FALSE(run(cache::lookup(files().attributes(), caller(), root_, "f")));
}

TEST_F(NamesTest, ADirectoryInWhichANameIsMadeIsAskedForAgain) {
  ASSERT_TRUE(files().attributes().fresh(*root_));
  const auto epoch = root_->epoch();
  auto made = run(make_directory(files().attributes(), caller(), root_, "d", S_IFDIR | 0750));
  ASSERT_TRUE(made);
  EXPECT_EQ(of(*made).mode, S_IFDIR | 0750U);
  EXPECT_FALSE(files().attributes().fresh(*root_));
  EXPECT_EQ(root_->epoch(), epoch + 1);
}

TEST_F(NamesTest, ANameThatIsNotMadeChangesNothing) {
  server_.write_file("f", "");
  const auto epoch = root_->epoch();
  auto made = run(make_symlink(files().attributes(), caller(), root_, "f", "target"));
  ASSERT_FALSE(made);
  EXPECT_EQ(client::to_errno(made.error()), EEXIST);
  EXPECT_EQ(root_->epoch(), epoch);
}

TEST_F(NamesTest, NodesAreOfTheTypeAskedFor) {
  EXPECT_TRUE(S_ISFIFO(of(node("pipe", S_IFIFO | 0600)).mode));
  EXPECT_TRUE(S_ISSOCK(of(node("socket", S_IFSOCK | 0600)).mode));
  EXPECT_TRUE(S_ISREG(of(node("file", S_IFREG | 0600)).mode));
  reactor_.settle();
  EXPECT_EQ(server_.successes_of(nfs4::OP_CLOSE), 1) << "the file is not left open";
}

TEST_F(NamesTest, CreateOpensWhatIsThereUnlessItMustNotBe) {
  server_.write_file("f", "text");
  const InodeRef file = found("f");
  {
    auto opened =
        run(cache::create(files().attributes(), caller(), root_, "f", O_WRONLY | O_TRUNC, 0600));
    ASSERT_TRUE(opened);
    EXPECT_EQ(opened->inode, file);
    EXPECT_EQ(opened->open.share_access(), nfs4::OPEN4_SHARE_ACCESS_WRITE);
    EXPECT_EQ(server_.read_file("f"), "");
  }
  auto refused =
      run(cache::create(files().attributes(), caller(), root_, "f", O_WRONLY | O_EXCL, 0600));
  ASSERT_FALSE(refused);
  EXPECT_EQ(client::to_errno(refused.error()), EEXIST);
}

TEST_F(NamesTest, ALinkedFileHasItsNewLinkCount) {
  server_.write_file("f", "");
  const InodeRef file = found("f");
  ASSERT_TRUE(run(cache::link(files().attributes(), caller(), file, root_, "g")));
  EXPECT_EQ(of(file).links, 2U);
  EXPECT_EQ(found("g"), file);
}

TEST_F(NamesTest, APageIsFetchedOnce) {
  server_.write_file("f", "text");
  const DirectoryRef listed = directory();
  EXPECT_EQ(list(listed), true);
  EXPECT_EQ(list(listed), false);
  const auto entries = listed->stream.following(0);
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries[0].name, "f");
  EXPECT_EQ(of(inode_of(files().attributes(), *listed, entries[0])).size, 4U);
  EXPECT_EQ(list(listed, entries[0].cookie), false) << "the end is known";
}

TEST_F(NamesTest, APageFromBeforeAChangeMakesNoInodes) {
  server_.write_file("f", "");
  const DirectoryRef listed = directory();
  ASSERT_TRUE(list(listed));
  node("pipe", S_IFIFO | 0600);
  EXPECT_FALSE(listed->names_current());
  EXPECT_FALSE(inode_of(files().attributes(), *listed, listed->stream.page().entries[0]));
}

TEST_F(NamesTest, AVerifierThatIsRefusedIsForgotten) {
  server_.write_file("f", "");
  server_.fail(nfs4::OP_READDIR, nfs4::NFS4ERR_NOT_SAME);
  EXPECT_EQ(list(directory()), true);
  server_.fail(nfs4::OP_READDIR, nfs4::NFS4ERR_NOT_SAME, 2);
  EXPECT_FALSE(list(directory()));
}

}  // namespace
}  // namespace nfsrdma::cache::test
