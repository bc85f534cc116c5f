// CLOSE (RFC 8881 section 18.2).
#pragma once

#include "client/compound/compound.h"
#include "client/proto/object.h"

namespace nfsrdma::client {

struct RequestContext;

/// The answer to CLOSE or OPEN_DOWNGRADE.
struct Narrowed {
  Result<nfs4::stateid4> stateid;  ///< afterwards; of OPEN_DOWNGRADE
  /// The stateid has been made old by an execution of this request whose answer was lost: the
  /// current one is named with seqid zero.
  bool outdated_itself = false;
};

Task<Narrowed> send_close(RequestContext& context, Credential caller, FileHandle file,
                          nfs4::stateid4 open, net::Pace pace);

// The parts of it, for a request that does more.

/// CLOSE of the current file handle.
void add_close(Compound& compound, const nfs4::stateid4& open);
/// Reads its result.
Narrowed read_closed(Compound& compound);

}  // namespace nfsrdma::client
