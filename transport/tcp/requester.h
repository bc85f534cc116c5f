// Sends Calls and completes them, for one connection.
//
// A Call: queued -> its turn -> one record, sent with one system call -> reply (its XID is retired)
// -> the kernel has taken all of it -> decoded and reported. Only the kernel reads and writes the
// memory that a call lends, and only within a system call (I3).
#pragma once

#include <cstddef>
#include <cstdint>

#include "transport/rpc/call.h"
#include "transport/rpc/call_queue.h"
#include "transport/rpc/failed_calls.h"
#include "transport/rpc/xid_table.h"
#include "transport/tcp/call_context.h"
#include "transport/tcp/link.h"
#include "transport/tcp/pools.h"

namespace nfsrdma::tcp {

/// Calls of Urgency::reserved that may be open besides Options::calls.
inline constexpr std::uint32_t kReservedCalls = 4;

class Requester {
 public:
  Requester(Link& link, Pools& pools);

  /// Sends the call or queues it. Never ends it from within.
  void submit(rpc::Call& call);
  /// Sends what may be sent now.
  void pump();

  CallContext* find_open(std::uint32_t xid) { return open_.find(xid); }
  /// See MessageHandler::least_payload_offset.
  std::size_t least_payload_offset() const;
  void on_reply(CallContext& context, Received reply);
  /// The connection ends because of this Call's reply.
  void blame(CallContext* context) { poison_call_ = context; }

  void on_sent(CallContext& context);
  /// The connection is gone: ends every call, those that have their reply with it.
  void on_down();
  /// Ends the calls that failed without being sent. Called from the reactor.
  void tell_failed() { failed_.tell(); }

  /// Calls that are queued, or sent and not answered.
  std::size_t open_calls() const { return queue_.size() + in_flight_; }
  std::size_t in_flight() const { return in_flight_; }
  std::uint64_t replies() const { return replies_; }

  // What the queue asks.
  bool may_send(rpc::Urgency urgency) const;

 private:
  bool send(rpc::Call& call);
  Result<void> check(const rpc::Call& call) const;
  void retire(CallContext& context);
  void complete_if_finished(CallContext& context);
  void complete(CallContext& context);

  Link& link_;
  Pools& pools_;
  rpc::CallQueue queue_;
  rpc::XidTable<CallContext> open_;
  IntrusiveList<CallContext::InUse> in_use_;  // in the order they were sent
  std::size_t in_flight_ = 0;
  std::size_t ordinary_ = 0;   // calls of that urgency that have not ended
  std::size_t placeable_ = 0;  // open calls with a payload sink
  std::size_t least_offset_ = SIZE_MAX;
  CallContext* suspect_ = nullptr;      // an open suspect call: nothing ordinary may join it
  CallContext* poison_call_ = nullptr;  // the call whose reply ended the connection
  rpc::FailedCalls failed_;
  std::uint64_t replies_ = 0;
};

}  // namespace nfsrdma::tcp
