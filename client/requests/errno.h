// The one table from errors of any layer to errno values.
#pragma once

#include "client/proto/status.h"
#include "transport/base/error.h"

namespace nfsrdma::client {

/// The errno of a system call for this error. Never 0. NFS errors by the table of errno.cc,
/// everything below NFS as EIO but for a few conditions with an errno of their own.
int to_errno(const Error& error);

/// The table itself; a value that is no nfsstat4 gives EIO.
int to_errno(nfs4::nfsstat4 status);

}  // namespace nfsrdma::client
