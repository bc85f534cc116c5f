// The operations, of the rows of ops.def. Each gets its decoded arguments, fills in what follows a
// status of NFS4_OK (or NFS4ERR_DENIED) and returns the status. Current and saved file handles have
// been checked to be there where the row says so.
#pragma once

#include "tests/proto/operations.h"
#include "tests/responder/nfs/compound_context.h"

namespace nfsrdma::responder {

#define NFSRDMA_EXECUTED(function, NAME, traits)                                    \
  nfs4::nfsstat4 function(CompoundContext& context, const nfs4::NAME##4args & args, \
                          nfs4::NAME##4res & result);
#define NFSRDMA_ENCODING(function, NAME, traits) \
  nfs4::nfsstat4 function(CompoundContext& context, const nfs4::NAME##4args & args);
#include "tests/responder/nfs/ops/ops.def"

/// NFS4_OK for a directory; else NOTDIR, or SYMLINK where a name in a symbolic link was asked for.
nfs4::nfsstat4 not_a_directory(const File& file);

}  // namespace nfsrdma::responder
