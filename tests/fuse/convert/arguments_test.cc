// System call arguments to NFS arguments (RFC 8881 sections 5.8.2, 18.30).
#include "fuse/convert/arguments.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

namespace nfsrdma::fuse {
namespace {

TEST(SetAttributes, SetsOnlyWhatIsValid) {
  fuse_setattr_in wanted{};
  wanted.size = 77;
  wanted.mode = S_IFREG | 04755;
  const auto valid = [&wanted](std::uint32_t bits) {
    wanted.valid = bits;
    return to_set_attributes(wanted);
  };
  EXPECT_TRUE(valid(0).empty());
  EXPECT_TRUE(valid(FATTR_CTIME).empty());
  EXPECT_EQ(valid(FATTR_SIZE).size, 77u);
  EXPECT_FALSE(valid(FATTR_SIZE).mode);
  EXPECT_EQ(valid(FATTR_MODE).mode, 04755u);
  EXPECT_FALSE(valid(FATTR_MODE).size);
}

TEST(SetAttributes, TimesAreTheServersOrTheGivenOnes) {
  fuse_setattr_in wanted{};
  wanted.atime = static_cast<std::uint64_t>(-5);
  wanted.atimensec = 999999999;
  wanted.valid = FATTR_ATIME;
  const auto given = to_set_attributes(wanted);
  ASSERT_TRUE(given.access_time);
  EXPECT_FALSE(given.access_time->server_time);
  EXPECT_EQ(given.access_time->time.seconds, -5);
  EXPECT_EQ(given.access_time->time.nseconds, 999999999u);
  EXPECT_FALSE(given.modify_time);
  wanted.valid = FATTR_MTIME | FATTR_MTIME_NOW;
  const auto now = to_set_attributes(wanted);
  ASSERT_TRUE(now.modify_time);
  EXPECT_TRUE(now.modify_time->server_time);
}

TEST(Statvfs, CountsInBlocks) {
  client::Attributes status;
  status.space_total = 10 * 4096 + 4095;
  status.space_free = 4096;
  status.space_avail = 4095;
  status.files_total = 5;
  status.files_free = 4;
  status.files_avail = 3;
  status.maxname = 200;
  status.present.set(nfs4::FATTR4_MAXNAME);
  const auto result = to_statvfs(status);
  EXPECT_EQ(result.f_frsize, 4096u);
  EXPECT_EQ(result.f_blocks, 10u);
  EXPECT_EQ(result.f_bfree, 1u);
  EXPECT_EQ(result.f_bavail, 0u);
  EXPECT_EQ(result.f_files, 5u);
  EXPECT_EQ(result.f_ffree, 4u);
  EXPECT_EQ(result.f_favail, 3u);
  EXPECT_EQ(result.f_namemax, 200u);
}

TEST(ArgumentsTest, NoNameIsLongerThanTheKernelTakes) {
  client::Attributes status;
  EXPECT_EQ(to_statvfs(status).f_namemax, 255u) << "the server does not say";
  status.maxname = 1024;
  status.present.set(nfs4::FATTR4_MAXNAME);
  EXPECT_EQ(to_statvfs(status).f_namemax, 255u);
}

}  // namespace
}  // namespace nfsrdma::fuse
