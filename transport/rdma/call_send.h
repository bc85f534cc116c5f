// Turns a planned Call into memory that the server may reach and one Send.
#pragma once

#include "transport/base/result.h"
#include "transport/rdma/call_context.h"
#include "transport/rdma/header.h"
#include "transport/rdma/link.h"

namespace nfsrdma::rdma {

/// Prepares the exposures that context.plan names, in the order of the header: Position Zero chunk,
/// Read chunks by Position, Write chunk, Reply chunk (context.reply_chunk holds its memory). On
/// error nothing is exposed.
Result<void> expose_memory(Link& link, CallContext& context);

/// Encodes the header, with `credits` as the number asked for, and posts it with what stays of the
/// Payload. All leases become bound. `scratch` is used for the header and may be reused afterwards.
void post_call(Link& link, CallContext& context, std::uint32_t credits, Header& scratch);

}  // namespace nfsrdma::rdma
