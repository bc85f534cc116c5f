// One request on one connection, outside the slots of a session.
#pragma once

#include "client/compound/compound.h"
#include "transport/base/task.h"
#include "transport/rpc/channel.h"

namespace nfsrdma::client {

/// Seals the request, sends it on this connection alone and opens the reply. An error when the
/// connection ended or the RPC failed; the operations' own results are the caller's to read. `xid`
/// must be new.
Task<Result<void>> exchange(rpc::Channel& channel, Compound& compound, std::uint32_t xid,
                            TimePoint now);

}  // namespace nfsrdma::client
