// Outcome<T>: a value or the nfsstat4 to answer with; and the mapping from errno.
#pragma once

#include <tl/expected.hpp>

#include "client/proto/status.h"

namespace nfsrdma::responder {

template <class T>
using Outcome = tl::expected<T, nfs4::nfsstat4>;

inline tl::unexpected<nfs4::nfsstat4> refuse(nfs4::nfsstat4 status) {
  return tl::unexpected<nfs4::nfsstat4>(status);
}

/// The status for a failed system call. Never NFS4_OK.
nfs4::nfsstat4 status_of_errno(int error_number);

/// Whether a call failed because the process, or the system, has no descriptor left.
bool is_shortage(int error_number);

/// refuse(status_of_errno(errno))
tl::unexpected<nfs4::nfsstat4> refuse_errno();

}  // namespace nfsrdma::responder
