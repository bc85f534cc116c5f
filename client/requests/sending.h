// How a request that recovery makes, too, goes out.
#pragma once

#include "client/compound/compound_pool.h"
#include "client/proto/object.h"
#include "client/session/patience.h"
#include "transport/rpc/channel.h"

namespace nfsrdma::client {

struct RequestContext;

/// As other requests do, unless something else is said.
struct Sending {
  /// One try on this connection, also while other requests are held back (Session::execute_on).
  rpc::Channel* channel = nullptr;
  /// From the requests that are kept back for recovery.
  bool reserved = false;
  /// The server's DELAY or GRACE is the answer once this is over. Without `channel`.
  Patience patience;
};

/// An empty request; null when the mount is ending, or when the reserve is used up.
Task<CompoundRef> begin(RequestContext& context, Credential caller, Sending sending);
/// Why begin() gave none.
Error no_request(const Sending& sending);
/// Sends it until it is answered.
Task<Result<void>> execute(RequestContext& context, Compound& compound, const Sending& sending);

}  // namespace nfsrdma::client
