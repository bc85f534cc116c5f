// The requester of one RPC-over-RDMA connection (RFC 8166 sections 3.3 to 4.5): plans, exposes and
// posts each Call, checks its reply and takes the memory back.
//
// A Call: queued -> a credit, a posted Receive, a context and its Reply chunk are at hand -> memory
// leased, header encoded, one post -> reply or RDMA_ERROR (its credit is free, its XID retired)
// -> every lease invalidated and the Send done -> decoded and reported.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "transport/base/buffer.h"
#include "transport/rdma/call_context.h"
#include "transport/rdma/credits.h"
#include "transport/rdma/header.h"
#include "transport/rdma/link.h"
#include "transport/rdma/pools.h"
#include "transport/rdma/reply.h"
#include "transport/rpc/requester.h"

namespace nfsrdma::rdma {

class Requester final : public rpc::Requester<Requester, CallContext, Link, Pools>,
                        private BufferWaiter,
                        private rpc::MessageWaiter {
 public:
  Requester(Link& link, Pools& pools);

  /// A reply with a well-formed header; `payload` is the inline RPC message, empty for RDMA_NOMSG.
  /// `invalidated` is the handle that the server invalidated with it.
  void on_reply(CallContext& context, const Header& header, std::span<const std::byte> payload,
                rpc::MessageRef message, std::optional<std::uint32_t> invalidated);
  /// An RDMA_ERROR for an open Call.
  void on_error(CallContext& context, const Header& header,
                std::optional<std::uint32_t> invalidated);
  /// A reply to an open Call that cannot be used: it is dropped, and as the Call would wait for
  /// ever the connection ends (V1-4.5-4, F-9).
  void on_malformed(CallContext& context, const char* what);

  void on_invalidated(fabric::Lease& lease);
  /// Hides the base's: nothing is waited for any more, either.
  void on_down();

  const CreditAccount& credits() const { return credits_; }
  CreditAccount& credits() { return credits_; }

 private:
  using Base = rpc::Requester<Requester, CallContext, Link, Pools>;
  friend Base;

  rpc::Sent send(rpc::Call& call);
  const CreditAccount& window() const { return credits_; }
  void on_retired(CallContext&) { credits_.give_back(); }
  void release(CallContext& context) { context.bound_leases = 0; }
  Result<rpc::Reply> decode(CallContext& context) { return decode_reply(context); }
  void on_ending(CallContext& context);

  rpc::Sent send_with(CallContext& context);
  void give_back(CallContext& context);
  bool acquire_reply_chunk(CallContext& context);
  bool invalidation_is_legal(const CallContext& context, std::optional<std::uint32_t> handle) const;
  void answer(CallContext& context, std::optional<std::uint32_t> invalidated);
  void count_reply(const CallContext& context);
  void on_buffer_available() override { pump_later_.schedule(); }
  void on_message_free() override { pump_later_.schedule(); }

  CreditAccount credits_;
  Deferred pump_later_;
  Header outgoing_;  // scratch: too large to make for each Send
};

}  // namespace nfsrdma::rdma
