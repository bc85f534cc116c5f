#include "client/requests/errno.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "client/proto/status.h"
#include "transport/fabric/fabric.h"
#include "transport/rpc/message.h"

namespace nfsrdma::client {
namespace {

using namespace nfs4;

TEST(ErrnoTest, EveryStatusHasAnErrno) {
  ASSERT_GT(all_statuses().size(), 100U);
  for (const nfsstat4 status : all_statuses()) {
    EXPECT_GT(to_errno(status), 0) << status_name(status);
    EXPECT_LT(to_errno(status), 134) << status_name(status);
  }
}

TEST(ErrnoTest, WhatTheSystemHasAnErrnoForKeepsIt) {
  const struct {
    nfsstat4 status;
    int errno_value;
  } rows[] = {{NFS4ERR_PERM, EPERM},         {NFS4ERR_NOENT, ENOENT},
              {NFS4ERR_ACCESS, EACCES},      {NFS4ERR_EXIST, EEXIST},
              {NFS4ERR_XDEV, EXDEV},         {NFS4ERR_NOTDIR, ENOTDIR},
              {NFS4ERR_ISDIR, EISDIR},       {NFS4ERR_INVAL, EINVAL},
              {NFS4ERR_FBIG, EFBIG},         {NFS4ERR_NOSPC, ENOSPC},
              {NFS4ERR_ROFS, EROFS},         {NFS4ERR_MLINK, EMLINK},
              {NFS4ERR_NOTEMPTY, ENOTEMPTY}, {NFS4ERR_NAMETOOLONG, ENAMETOOLONG},
              {NFS4ERR_DQUOT, EDQUOT},       {NFS4ERR_STALE, ESTALE},
              {NFS4ERR_NOTSUPP, EOPNOTSUPP}, {NFS4ERR_SYMLINK, ELOOP},
              {NFS4ERR_BAD_STATEID, EIO},    {NFS4ERR_OPENMODE, EBADF},
              {NFS4ERR_FILE_OPEN, EBUSY},    {NFS4ERR_BADSESSION, EIO},
              {NFS4ERR_MOVED, EIO},          {NFS4ERR_DENIED, EAGAIN}};
  for (const auto& row : rows) EXPECT_EQ(to_errno(row.status), row.errno_value) << row.status;
}

TEST(ErrnoTest, AnUndefinedStatusIsAnInputError) {
  EXPECT_EQ(to_errno(static_cast<nfsstat4>(424242)), EIO);
}

TEST(ErrnoTest, TheLayersBelowNfs) {
  const auto fabric_fault = [](fabric::Fault fault) {
    return to_errno(Error{Layer::fabric, static_cast<int>(fault), "", {}});
  };
  EXPECT_EQ(fabric_fault(fabric::Fault::reset), EIO);
  EXPECT_EQ(fabric_fault(fabric::Fault::timed_out), ETIMEDOUT);
  EXPECT_EQ(to_errno(Error{Layer::rpc, static_cast<int>(rpc::Fault::auth_error), "", {}}), EACCES);
  EXPECT_EQ(to_errno(Error{Layer::rpc, static_cast<int>(rpc::Fault::garbage_args), "", {}}), EIO);
  EXPECT_EQ(to_errno(Error{Layer::decode, 1, "", {}}), EIO);
  EXPECT_EQ(to_errno(Error::local(ENOTDIR, "")), ENOTDIR);
  EXPECT_EQ(to_errno(Error{Layer::system, 0, "", {}}), EIO);
}

}  // namespace
}  // namespace nfsrdma::client
