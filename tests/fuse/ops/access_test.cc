// ACCESS and STATFS.
#include <unistd.h>

#include "tests/fuse/ops/kernel_requests.h"

namespace nfsrdma::fuse::test {
namespace {

class AccessRequest : public KernelRequests {
 protected:
  int access(std::uint64_t node, int mask) {
    return ask(FUSE_ACCESS, node, fuse_access_in{static_cast<std::uint32_t>(mask), 0}).error;
  }
};

TEST_F(AccessRequest, TheServerDecidesForTheCaller) {
  server_.write_file("f", "");
  std::filesystem::permissions(server_.path("."), std::filesystem::perms(0755));
  std::filesystem::permissions(server_.path("f"), std::filesystem::perms(0644));
  const std::uint64_t node = lookup("f").nodeid;
  EXPECT_EQ(access(node, R_OK | W_OK), 0);
  kernel_->caller.uid = 4242;
  kernel_->caller.gid = 4242;
  EXPECT_EQ(access(node, R_OK), 0);
  EXPECT_EQ(access(node, W_OK), EACCES);
  EXPECT_EQ(access(node, R_OK | W_OK), EACCES);
  EXPECT_EQ(access(node, X_OK), EACCES);
  EXPECT_EQ(access(kRoot, X_OK), 0);
}

TEST_F(AccessRequest, ErrorsAreTold) {
  server_.fail(nfs4::OP_ACCESS, nfs4::NFS4ERR_STALE);
  EXPECT_EQ(access(kRoot, R_OK), ESTALE);
  EXPECT_EQ(access(4711, R_OK), ESTALE);
}

TEST_F(AccessRequest, StatfsTellsWhatTheServerHas) {
  const Answer answer = ask(FUSE_STATFS, kRoot);
  ASSERT_EQ(answer.error, 0);
  const auto status = answer.as<fuse_statfs_out>().st;
  EXPECT_EQ(status.bsize, 4096U);
  EXPECT_EQ(status.frsize, 4096U);
  EXPECT_EQ(status.namelen, 255U);
  EXPECT_GT(status.blocks, 0U);
  EXPECT_GE(status.blocks, status.bfree);
  EXPECT_GE(status.bfree, status.bavail);
  EXPECT_GE(status.files, status.ffree);
  server_.fail(nfs4::OP_GETATTR, nfs4::NFS4ERR_IO);
  EXPECT_EQ(ask(FUSE_STATFS, kRoot).error, EIO);
}

}  // namespace
}  // namespace nfsrdma::fuse::test
