// Sends Calls and completes them (RFC 8166 sections 3.3 to 4.5), for one connection.
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
#include "transport/rpc/call.h"
#include "transport/rpc/call_queue.h"
#include "transport/rpc/failed_calls.h"
#include "transport/rpc/xid_table.h"

namespace nfsrdma::rdma {

class Requester final : private BufferWaiter, private ReceiveWaiter {
 public:
  Requester(Link& link, Pools& pools);

  /// Sends the call or queues it. Never ends it from within.
  void submit(rpc::Call& call);
  /// Sends what may be sent now.
  void pump();

  /// The open Call with this XID, or null.
  CallContext* find(std::uint32_t xid) {
    link_.counters().xid_lookups.add();
    return open_.find(xid);
  }
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
  void on_send_done(CallContext& context);
  /// The connection is gone: ends every call, those that have their reply with it.
  void on_down();
  /// Ends the calls that failed without being sent. Called from the reactor.
  void tell_failed() { failed_.tell(); }

  /// Calls that are queued, or sent and not answered.
  std::size_t open_calls() const { return queue_.size() + credits_.in_flight(); }
  std::uint64_t replies() const { return replies_; }
  const CreditAccount& credits() const { return credits_; }
  CreditAccount& credits() { return credits_; }

 private:
  enum class Sent : std::uint8_t { yes, wait, failed };

  Sent send(rpc::Call& call);
  Sent send_with(CallContext& context);
  void give_back(CallContext& context);
  bool acquire_reply_chunk(CallContext& context);

  bool invalidation_is_legal(const CallContext& context, std::optional<std::uint32_t> handle) const;
  void answer(CallContext& context, std::optional<std::uint32_t> invalidated);
  void complete_if_finished(CallContext& context);
  void complete(CallContext& context);
  void count_reply(const CallContext& context);

  void release_all_from_provider(const Error& reason);
  void note_loss(CallContext& context, const Error& reason) const;
  void on_buffer_available() override { pump_later_.schedule(); }
  void on_receive_buffer_free() override { pump_later_.schedule(); }

  Link& link_;
  Pools& pools_;
  CreditAccount credits_;
  rpc::CallQueue queue_;
  rpc::XidTable<CallContext> open_;
  IntrusiveList<CallContext> in_use_;   // in the order they were sent
  CallContext* suspect_ = nullptr;      // an open suspect call: nothing ordinary may join it
  CallContext* poison_call_ = nullptr;  // the call whose reply ended the connection
  rpc::FailedCalls failed_;
  Deferred pump_later_;
  std::uint64_t replies_ = 0;
  Header outgoing_;  // scratch: too large to make for each Send
};

}  // namespace nfsrdma::rdma
