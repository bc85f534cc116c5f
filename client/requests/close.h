// CLOSE (RFC 8881 section 18.2).
#pragma once

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
                          nfs4::stateid4 open);

}  // namespace nfsrdma::client
