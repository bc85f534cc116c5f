// Changes that may have been executed once already.
//
// A change whose reply was lost is sent again with its slot and sequence number, and answered from
// the server's replay cache. When the session has gone as well (the server restarted, the lease ran
// out), that cache is gone, and there is no way to tell whether the change was made. The Linux
// client sends it once more and reports the second result, so that rm fails with ENOENT although it
// has removed the file. Here an error that an earlier execution explains counts as success, after a
// look at the object where there is one. Two clients that make the same change in the moment of a
// restart may then both succeed.
#pragma once

#include "client/compound/compound.h"
#include "transport/base/result.h"

namespace nfsrdma::client {

/// The request may have been executed before, and `status` is what its repetition then ends with.
inline bool may_be_done(const Compound& compound, const Error& error, nfs4::nfsstat4 status) {
  return compound.maybe_executed() && error.is(Layer::nfs, static_cast<int>(status));
}

}  // namespace nfsrdma::client
