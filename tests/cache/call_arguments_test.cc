// Arguments of system calls to those of NFS (RFC 8881 sections 18.1, 18.16).
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "cache/file/open.h"
#include "cache/file/queries.h"
#include "client/proto/ops_attr.h"
#include "client/proto/ops_open.h"

namespace nfsrdma::cache {
namespace {

TEST(ShareAccess, FollowsTheAccessModeAlone) {
  EXPECT_EQ(share_access(O_RDONLY | O_DIRECT), nfs4::OPEN4_SHARE_ACCESS_READ);
  EXPECT_EQ(share_access(O_WRONLY | O_APPEND), nfs4::OPEN4_SHARE_ACCESS_WRITE);
  EXPECT_EQ(share_access(O_RDWR | O_SYNC), nfs4::OPEN4_SHARE_ACCESS_BOTH);
}

TEST(Access, AsksForWhatTheMaskMeansForTheType) {
  using namespace nfs4;
  EXPECT_EQ(access4_bits(F_OK, false), 0u);
  EXPECT_EQ(access4_bits(R_OK, false), ACCESS4_READ);
  EXPECT_EQ(access4_bits(W_OK, false), ACCESS4_MODIFY | ACCESS4_EXTEND);
  EXPECT_EQ(access4_bits(W_OK, true), ACCESS4_MODIFY | ACCESS4_EXTEND | ACCESS4_DELETE);
  EXPECT_EQ(access4_bits(X_OK, false), ACCESS4_EXECUTE);
  EXPECT_EQ(access4_bits(X_OK | R_OK, true), ACCESS4_LOOKUP | ACCESS4_READ);
}

}  // namespace
}  // namespace nfsrdma::cache
