// The client's estimates of results against the types themselves.
#include <gtest/gtest.h>

#include "client/compound/result_sizes.h"
#include "tests/proto/operations.h"
#include "tests/proto/size.h"

namespace nfsrdma::client {
namespace {

using nfs4::max_encoded_size;

// V1-4.3.3-1: whether a Reply chunk is needed is decided by the largest result.
TEST(ResultSizes, AreThoseOfTheLargestResult) {
  EXPECT_EQ(result_size::kHandle, max_encoded_size<nfs4::GETFH4resok>());
  EXPECT_EQ(result_size::kStateid, max_encoded_size<nfs4::stateid4>());
  EXPECT_EQ(result_size::kBitmap, max_encoded_size<nfs4::bitmap4>());
  EXPECT_EQ(result_size::kChangeInfo, max_encoded_size<nfs4::change_info4>());
  EXPECT_EQ(result_size::kAccess, max_encoded_size<nfs4::ACCESS4resok>());
  EXPECT_EQ(result_size::kSequence, max_encoded_size<nfs4::SEQUENCE4resok>());
  EXPECT_EQ(result_size::kCreateSession, max_encoded_size<nfs4::CREATE_SESSION4resok>());
  EXPECT_EQ(result_size::kBindConnection, max_encoded_size<nfs4::BIND_CONN_TO_SESSION4resok>());
  EXPECT_EQ(result_size::kRead, max_encoded_size<nfs4::READ4resok>());
  EXPECT_EQ(result_size::kReadLink,
            max_encoded_size<nfs4::READLINK4resok>() + result_size::kLinkText);
  EXPECT_EQ(result_size::kWrite, max_encoded_size<nfs4::WRITE4resok>());
}

}  // namespace
}  // namespace nfsrdma::client
