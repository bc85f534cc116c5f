// System call arguments to NFS arguments (RFC 8881 sections 18.1, 18.16, 18.30).
#include "fuse/convert/arguments.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/proto/ops_attr.h"
#include "client/proto/ops_open.h"

namespace nfsrdma::fuse {
namespace {

TEST(ShareAccess, FollowsTheAccessModeAlone) {
  EXPECT_EQ(to_share_access(O_RDONLY | O_DIRECT), nfs4::OPEN4_SHARE_ACCESS_READ);
  EXPECT_EQ(to_share_access(O_WRONLY | O_APPEND), nfs4::OPEN4_SHARE_ACCESS_WRITE);
  EXPECT_EQ(to_share_access(O_RDWR | O_SYNC), nfs4::OPEN4_SHARE_ACCESS_BOTH);
}

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

TEST(Access, AsksForWhatTheMaskMeansForTheType) {
  using namespace nfs4;
  EXPECT_EQ(to_access4(F_OK, false), 0u);
  EXPECT_EQ(to_access4(R_OK, false), ACCESS4_READ);
  EXPECT_EQ(to_access4(W_OK, false), ACCESS4_MODIFY | ACCESS4_EXTEND);
  EXPECT_EQ(to_access4(W_OK, true), ACCESS4_MODIFY | ACCESS4_EXTEND | ACCESS4_DELETE);
  EXPECT_EQ(to_access4(X_OK, false), ACCESS4_EXECUTE);
  EXPECT_EQ(to_access4(X_OK | R_OK, true), ACCESS4_LOOKUP | ACCESS4_READ);
}

TEST(Statvfs, CountsInBlocks) {
  client::FileSystemStatus status;
  status.space_total = 10 * 4096 + 4095;
  status.space_free = 4096;
  status.space_avail = 4095;
  status.files_total = 5;
  status.files_free = 4;
  status.files_avail = 3;
  status.max_name = 200;
  const auto result = to_statvfs(status, 4096);
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
  client::FileSystemStatus status;
  status.max_name = 1024;
  EXPECT_EQ(to_statvfs(status, 4096).f_namemax, 255u);
}

}  // namespace
}  // namespace nfsrdma::fuse
