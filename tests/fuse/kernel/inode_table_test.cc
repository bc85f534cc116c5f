// Inodes live while the kernel counts lookups of them or an operation uses them, and no longer.
#include "fuse/kernel/inode_table.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <optional>
#include <vector>

namespace nfsrdma::fuse {
namespace {

client::FileHandle handle(std::uint32_t number) {
  client::FileHandle made;
  made.assign(std::as_bytes(std::span(&number, 1)));
  return made;
}

class InodeTableTest : public ::testing::Test {
 protected:
  InodeTableTest() { table.make_root(handle(0)); }

  InodeRef look_up(std::uint32_t number, std::uint64_t fileid = 0, std::uint32_t mode = S_IFREG) {
    InodeRef inode = with_view(table.obtain(handle(number), fileid ? fileid : number, mode));
    cache::FileAttributes attributes;
    attributes.fileid = fileid ? fileid : number;
    attributes.mode = mode;
    attributes.change = 1;
    inode->attributes().store(attributes, clock.issue({}), clock, {});
    table.count_lookup(*inode);
    return inode;
  }

  cache::IssueClock clock;
  InodeTable table;
};

// The kernel has let go of the directory, and comes to the file by another link.
TEST_F(InodeTableTest, ADirectoryStaysAsLongAsTheNameOfAFileInIt) {
  const auto keep = [&](bool directory_first) {
    InodeRef directory = directory_first ? look_up(1, 0, S_IFDIR) : InodeRef();
    const InodeRef file = look_up(2);
    if (!directory) directory = look_up(3, 0, S_IFDIR);
    file->led_by(directory, "name");
    const std::uint64_t id = directory->id();
    table.forget(*directory, 1);
    directory.reset();
    EXPECT_TRUE(table.find(id));
    return std::pair(file->id(), id);
  };
  const auto [file, directory] = keep(/*directory_first=*/false);
  InodeRef other = look_up(4, 0, S_IFDIR);
  table.find(file)->forget_name(*other, "name");
  table.find(file)->forget_name(*table.find(directory), "another");
  EXPECT_TRUE(table.find(directory));
  table.find(file)->forget_name(*table.find(directory), "name");
  EXPECT_FALSE(table.find(directory));
  keep(/*directory_first=*/true);
  keep(/*directory_first=*/false);  // both go with the table
}

TEST_F(InodeTableTest, TheRootIsNumberOneAndStays) {
  EXPECT_EQ(table.find(InodeTable::kRootId)->handle(), handle(0));
  table.forget(*table.find(InodeTable::kRootId), 1000);
  EXPECT_TRUE(table.find(InodeTable::kRootId));
}

TEST_F(InodeTableTest, AFileIsFoundByNumberAndByHandle) {
  const InodeRef inode = look_up(7);
  EXPECT_EQ(table.find(inode->id()), inode);
  EXPECT_EQ(table.find(handle(7)), inode);
  EXPECT_EQ(look_up(7), inode);
  EXPECT_FALSE(table.find(handle(8)));
  EXPECT_FALSE(table.find(inode->id() + 1));
}

TEST_F(InodeTableTest, TheKernelHasTheFirstSizeItIsToldAndMayPassOverLaterOnes) {
  const InodeRef inode = look_up(7);
  EXPECT_EQ(inode->view().size(), std::nullopt);
  inode->view().advertised_size(100);
  EXPECT_EQ(inode->view().size(), 100u);
  inode->view().advertised_size(100);
  EXPECT_EQ(inode->view().size(), 100u);
  inode->view().advertised_size(200);
  EXPECT_EQ(inode->view().size(), std::nullopt);
  inode->view().advertised_size(200);
  EXPECT_EQ(inode->view().size(), std::nullopt);
  inode->view().size_is(200);
  EXPECT_EQ(inode->view().size(), 200u);
}

TEST_F(InodeTableTest, OwnWritesLengthenWhatTheKernelHasAndShortReadsMayShortenIt) {
  const InodeRef inode = look_up(7);
  inode->view().wrote(50, true);
  EXPECT_EQ(inode->view().size(), std::nullopt);
  inode->view().advertised_size(100);
  inode->view().wrote(90, true);
  EXPECT_EQ(inode->view().size(), 100u);
  inode->view().wrote(110, true);
  EXPECT_EQ(inode->view().size(), 110u);
  inode->view().read_end(110);
  EXPECT_EQ(inode->view().size(), 110u);
  inode->view().read_end(109);
  EXPECT_EQ(inode->view().size(), std::nullopt);
}

TEST_F(InodeTableTest, AKernelThatHasForgottenAnInodeIsToldItsSizeAnew) {
  const InodeRef inode = look_up(7);
  inode->view().advertised_size(100);
  table.forget(*inode, 1);
  EXPECT_EQ(inode->view().size(), std::nullopt);
  inode->view().advertised_size(200);
  EXPECT_EQ(inode->view().size(), 200u);
}

TEST_F(InodeTableTest, ForgettingTheLastLookupRemovesIt) {
  const std::uint64_t id = look_up(7)->id();
  look_up(7);
  table.forget(*table.find(id), 1);
  EXPECT_TRUE(table.find(id));
  table.forget(*table.find(id), 1);
  EXPECT_FALSE(table.find(id));
  EXPECT_FALSE(table.find(handle(7)));
  EXPECT_EQ(table.size(), 1u);
}

TEST_F(InodeTableTest, AnOperationKeepsAForgottenInode) {
  InodeRef inode = look_up(7);
  const std::uint64_t id = inode->id();
  table.forget(*inode, 1);
  EXPECT_EQ(table.find(id), inode);
  inode.reset();
  EXPECT_FALSE(table.find(id));
}

TEST_F(InodeTableTest, AnInodeNobodyCountsGoesWithItsLastReference) {
  { const auto unknown = table.obtain(handle(9), 9, S_IFREG); }
  EXPECT_EQ(table.size(), 1u);
}

TEST_F(InodeTableTest, ForgettingMoreThanWasCountedIsHarmless) {
  InodeRef inode = look_up(7);
  table.forget(*inode, UINT64_MAX);
  EXPECT_EQ(look_up(7), inode);
}

TEST_F(InodeTableTest, AReusedHandleIsANewFile) {
  const InodeRef old = look_up(7, 100, S_IFREG);
  const InodeRef other_fileid = look_up(7, 101, S_IFREG);
  EXPECT_NE(other_fileid, old);
  const InodeRef other_type = look_up(7, 101, S_IFDIR);
  EXPECT_NE(other_type, other_fileid);
  EXPECT_EQ(table.find(handle(7)), other_type);
  // The kernel still knows the old ones by number, and forgets them in its own time.
  EXPECT_EQ(table.find(old->id()), old);
  table.forget(*old, 1);
  table.forget(*other_fileid, 1);
  EXPECT_EQ(table.find(handle(7)), other_type);
}

TEST_F(InodeTableTest, HandlesOfAllLengthsAreTold) {
  std::vector<cache::InodeRef> inodes;
  client::FileHandle longer;
  for (std::uint32_t length = 1; length <= longer.data.size(); ++length) {
    longer.length = length;
    inodes.push_back(table.obtain(longer, length, S_IFREG));
  }
  for (std::uint32_t length = 1; length <= longer.data.size(); ++length) {
    longer.length = length;
    EXPECT_EQ(table.find(longer), inodes[length - 1]);
  }
}

TEST_F(InodeTableTest, ManyFilesComeAndGoWithoutALeak) {
  constexpr std::uint32_t kFiles = 20000;
  for (int round = 0; round < 3; ++round) {
    for (std::uint32_t i = 1; i <= kFiles; ++i) look_up(i);
    EXPECT_EQ(table.size(), kFiles + 1);
    for (std::uint32_t i = 1; i <= kFiles; ++i) {
      const InodeRef inode = with_view(table.find(handle(i)));
      ASSERT_TRUE(inode);
      table.forget(*inode, 1);
    }
    EXPECT_EQ(table.size(), 1u);
  }
}

TEST_F(InodeTableTest, ThereAreNoMoreThanItMayHave) {
  InodeTable small(2);
  small.make_root(handle(0));
  cache::InodeRef one = small.obtain(handle(1), 1, S_IFREG);
  EXPECT_TRUE(one);
  EXPECT_FALSE(small.obtain(handle(2), 2, S_IFREG));
  EXPECT_TRUE(small.obtain(handle(1), 1, S_IFREG)) << "it is there already";
  one.reset();
  EXPECT_TRUE(small.obtain(handle(2), 2, S_IFREG));
}

}  // namespace
}  // namespace nfsrdma::fuse
