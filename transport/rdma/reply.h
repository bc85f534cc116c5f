// Checks a Reply against the local record of its Call (RFC 8166 sections 3.4.6, 4.3). The record
// decides where memory is; the reply may only say how much of it was written.
#pragma once

#include "transport/base/result.h"
#include "transport/rdma/call_context.h"
#include "transport/rdma/header.h"
#include "transport/rpc/call.h"

namespace nfsrdma::rdma {

/// The shape of the reply, or a text that says why it is wrong.
tl::expected<ReplyShape, const char*> check_reply(const Header& header, const CallContext& context);

/// Whether all bytes that a good reply claims, and the client would read, were placed. True if the
/// provider cannot tell. Call it before the leases are invalidated.
bool is_placed(const Header& header, const CallContext& context, const fabric::Endpoint& endpoint);

/// Decodes the RPC header of a good reply, which context.message holds. Only after every lease is
/// free: results lie in memory that the server could reach before. Moves message and Reply chunk
/// out of the context.
Result<rpc::Reply> decode_reply(CallContext& context);

}  // namespace nfsrdma::rdma
