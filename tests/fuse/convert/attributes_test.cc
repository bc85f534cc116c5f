// NFS attributes to remembered ones and to struct stat (RFC 8881 section 5.8).
#include "fuse/convert/attributes.h"

#include <gtest/gtest.h>
#include <sys/sysmacros.h>

#include "cache/attr/from_server.h"

namespace nfsrdma::fuse {
namespace {

using namespace nfs4;
using cache::apply;
using cache::describes_file;
using cache::owners_known;
using cache::type_bits;

constexpr cache::FileSystemId kRoot{1, 2};

Attributes everything() {
  Attributes a;
  a.present = {FATTR4_TYPE,        FATTR4_CHANGE,       FATTR4_SIZE,       FATTR4_FSID,
               FATTR4_FILEID,      FATTR4_MODE,         FATTR4_NUMLINKS,   FATTR4_OWNER,
               FATTR4_OWNER_GROUP, FATTR4_RAWDEV,       FATTR4_SPACE_USED, FATTR4_TIME_ACCESS,
               FATTR4_TIME_MODIFY, FATTR4_TIME_METADATA};
  a.type = NF4CHR;
  a.change = 3;
  a.size = 5'000'000'000;
  a.fsid = {1, 2};
  a.fileid = 42;
  a.mode = 04751;
  a.numlinks = 3;
  a.owner.id = 1000;
  a.owner_group.id = 1001;
  a.rawdev = {7, 8};
  a.space_used = 513;
  a.time_access = {-1, 5};
  a.time_modify = {100, 999999999};
  a.time_metadata = {200, 0};
  return a;
}

// RFC 8881 section 5.7: a server need not have OWNER and OWNER_GROUP. Root must not be who owns
// its files.
TEST(FileAttributesConversion, AFileWithoutOwnersIsNobodys) {
  Attributes fresh = everything();
  fresh.present = fresh.present - bitmap4{FATTR4_OWNER, FATTR4_OWNER_GROUP};
  cache::FileAttributes known;
  apply(fresh, known);
  const struct stat s = to_stat(known, kRoot);
  EXPECT_EQ(s.st_uid, 65534U);
  EXPECT_EQ(s.st_gid, 65534U);
  EXPECT_TRUE(owners_known(fresh));
}

TEST(FileAttributesConversion, AnOwnerNobodyHasToldOfIsNotKept) {
  Attributes fresh = everything();
  EXPECT_TRUE(owners_known(fresh));
  fresh.owner_group = {0, false, {}};
  EXPECT_FALSE(owners_known(fresh));
  cache::FileAttributes known;
  apply(fresh, known);
  EXPECT_EQ(known.gid, 65534U);
}

TEST(FileAttributesConversion, StatShowsWhatTheServerSaid) {
  cache::FileAttributes known;
  apply(everything(), known);
  const struct stat s = to_stat(known, kRoot);
  EXPECT_EQ(s.st_mode, static_cast<mode_t>(S_IFCHR | 04751));
  EXPECT_EQ(s.st_ino, 42u);
  EXPECT_EQ(s.st_size, 5'000'000'000);
  EXPECT_EQ(s.st_blocks, 2);
  EXPECT_EQ(s.st_nlink, 3u);
  EXPECT_EQ(s.st_uid, 1000u);
  EXPECT_EQ(s.st_gid, 1001u);
  EXPECT_EQ(s.st_rdev, makedev(7, 8));
  EXPECT_EQ(s.st_atim.tv_sec, -1);
  EXPECT_EQ(s.st_atim.tv_nsec, 5);
  EXPECT_EQ(s.st_mtim.tv_nsec, 999999999);
  EXPECT_EQ(s.st_ctim.tv_sec, 200);
}

TEST(FileAttributesConversion, AbsentAttributesStayAsTheyWere) {
  cache::FileAttributes known;
  apply(everything(), known);
  const cache::FileAttributes before = known;
  Attributes part;
  part.present = {FATTR4_CHANGE, FATTR4_SIZE};
  part.change = 4;
  part.size = 6;
  apply(part, known);
  cache::FileAttributes expected = before;
  expected.change = 4;
  expected.size = 6;
  EXPECT_EQ(known, expected);
}

TEST(FileAttributesConversion, TypeAndModeComeSeparately) {
  cache::FileAttributes known;
  Attributes mode;
  mode.present = {FATTR4_MODE};
  mode.mode = 0600;
  apply(mode, known);
  Attributes type;
  type.present = {FATTR4_TYPE};
  type.type = NF4DIR;
  apply(type, known);
  EXPECT_EQ(known.mode, static_cast<std::uint32_t>(S_IFDIR | 0600));
}

TEST(FileAttributesConversion, EveryTypeHasItsBits) {
  EXPECT_EQ(type_bits(NF4REG), static_cast<std::uint32_t>(S_IFREG));
  EXPECT_EQ(type_bits(NF4DIR), static_cast<std::uint32_t>(S_IFDIR));
  EXPECT_EQ(type_bits(NF4BLK), static_cast<std::uint32_t>(S_IFBLK));
  EXPECT_EQ(type_bits(NF4CHR), static_cast<std::uint32_t>(S_IFCHR));
  EXPECT_EQ(type_bits(NF4LNK), static_cast<std::uint32_t>(S_IFLNK));
  EXPECT_EQ(type_bits(NF4SOCK), static_cast<std::uint32_t>(S_IFSOCK));
  EXPECT_EQ(type_bits(NF4FIFO), static_cast<std::uint32_t>(S_IFIFO));
  EXPECT_EQ(type_bits(static_cast<nfs_ftype4>(77)), 0u);
}

TEST(FileAttributesConversion, AnOwnerWithoutANumberIsNobody) {
  Attributes a = everything();
  a.owner.numeric = false;
  a.owner.name = "someone@elsewhere";
  cache::FileAttributes known;
  apply(a, known);
  EXPECT_EQ(known.uid, 65534u);
  EXPECT_EQ(known.gid, 1001u);
}

TEST(InodeNumber, IsTheFileidOnTheMountsOwnFileSystem) {
  EXPECT_EQ(inode_number(42, kRoot, kRoot), 42u);
}

TEST(InodeNumber, IsNeverTheOneOfANameThatIsPassedOver) {
  EXPECT_EQ(inode_number(0, kRoot, kRoot), kUnknownInode);
  const std::uint64_t spread = inode_number(1, {1, 3}, kRoot) ^ 1;
  EXPECT_EQ(inode_number(spread, {1, 3}, kRoot), kUnknownInode);
}

TEST(InodeNumber, DiffersForTheSameFileidOfAnotherFileSystem) {
  const std::uint64_t a = inode_number(42, {1, 3}, kRoot);
  const std::uint64_t b = inode_number(42, {2, 2}, kRoot);
  EXPECT_NE(a, 42u);
  EXPECT_NE(b, 42u);
  EXPECT_NE(a, b);
  EXPECT_EQ(a, inode_number(42, {1, 3}, kRoot));
}

TEST(DescribesFile, NeedsTypeFileidAndChange) {
  EXPECT_TRUE(describes_file(everything()));
  for (const std::uint32_t missing : {FATTR4_TYPE, FATTR4_FILEID, FATTR4_CHANGE}) {
    Attributes a = everything();
    a.present.clear(missing);
    EXPECT_FALSE(describes_file(a)) << attribute_name(missing);
  }
}

}  // namespace
}  // namespace nfsrdma::fuse
