// One inode for each file, whatever the server does with handles.
#include "cache/file/inode_index.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <vector>

#include "tests/cache/known_inodes.h"

namespace nfsrdma::cache {
namespace {

client::FileHandle handle(std::uint32_t number) {
  client::FileHandle made;
  made.assign(std::as_bytes(std::span(&number, 1)));
  return made;
}

class InodeIndexTest : public ::testing::Test {
 protected:
  InodeRef obtain(std::uint32_t number, std::uint64_t fileid, std::uint32_t mode = S_IFREG) {
    const InodeRef inode = inodes.obtain(handle(number), fileid, mode);
    FileAttributes attributes;
    attributes.fileid = fileid;
    attributes.mode = mode;
    inode->attributes().store(attributes, clock.issue({}), clock, {});
    return inode;
  }

  IssueClock clock;
  test::KnownInodes inodes;
};

TEST_F(InodeIndexTest, AFileHasOneInodeForAsLongAsItIsUsed) {
  {
    const InodeRef inode = obtain(7, 7);
    EXPECT_EQ(obtain(7, 7), inode);
    EXPECT_EQ(inodes.find(handle(7)), inode);
  }
  EXPECT_FALSE(inodes.find(handle(7)));
  EXPECT_EQ(inodes.count(), 0U);
}

TEST_F(InodeIndexTest, AnotherFileUnderAUsedHandleIsAnotherInode) {
  const InodeRef old = obtain(7, 100);
  const InodeRef other_file = obtain(7, 101);
  EXPECT_NE(other_file, old);
  const InodeRef other_type = obtain(7, 101, S_IFDIR);
  EXPECT_NE(other_type, other_file);
  EXPECT_EQ(inodes.find(handle(7)), other_type);
}

TEST_F(InodeIndexTest, TheRootStaysWhateverTheServerSays) {
  Inode& root = inodes.make_root(handle(0));
  EXPECT_EQ(obtain(0, 2, S_IFDIR), &root);
  EXPECT_EQ(obtain(0, 3, S_IFDIR), &root);
  EXPECT_EQ(inodes.find(handle(0)), &root);
}

TEST_F(InodeIndexTest, NoneIsMadeWhenThereAreTooMany) {
  inodes.most = 1;
  const InodeRef one = obtain(1, 1);
  EXPECT_FALSE(inodes.obtain(handle(2), 2, S_IFREG));
  EXPECT_FALSE(inodes.find(handle(2)));
  EXPECT_EQ(obtain(1, 1), one);
}

TEST_F(InodeIndexTest, ManyAreFound) {
  constexpr std::uint32_t kMany = 5000;
  std::vector<InodeRef> all;
  for (std::uint32_t i = 0; i < kMany; ++i) all.push_back(obtain(i, i + 1));
  for (std::uint32_t i = 0; i < kMany; ++i) EXPECT_EQ(inodes.find(handle(i)), all[i]);
}

}  // namespace
}  // namespace nfsrdma::cache
