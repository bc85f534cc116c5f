// The connections of one client to its server, as the session sees them. Today there is one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "client/proto/types.h"
#include "transport/base/metrics.h"
#include "transport/base/reactor.h"
#include "transport/base/result.h"
#include "transport/base/task.h"
#include "transport/rpc/connection_keeper.h"

namespace nfsrdma::client {

/// Told of every connection of a trunk; see rpc::ChannelBinder.
using TrunkObserver = rpc::ChannelBinder;

/// Makes the connections anew as they are lost, and says which of them a request uses. The session
/// and what watches over it know the trunk only. Belongs to one shard. Destroy it only before
/// start() or after close() has ended.
class Trunk final : private rpc::ChannelBinder, private rpc::BackwardCallHandler {
 public:
  /// Both outlive it.
  Trunk(Reactor& reactor, rpc::ChannelFactory& channels);

  /// The first connection: made and bound when this succeeds. An error leaves the trunk as it was.
  /// `observer` makes and binds the session, `callbacks` answers the server; both outlive close().
  Task<Result<void>> start(TrunkObserver& observer, rpc::BackwardCallHandler& callbacks);

  /// The connection for the request in this session slot, or null while it is not ready. A slot
  /// keeps to its connection, so that a request is never in flight on two.
  rpc::Channel* channel(nfs4::slotid4) const { return keeper_.channel(); }
  /// Waits until there is one. An error (local, ESHUTDOWN) only after close().
  Task<Result<rpc::Channel*>> ready(nfs4::slotid4) { return keeper_.ready(); }
  /// Requests can be sent.
  bool up() const { return keeper_.channel() != nullptr; }

  /// An unhurried request that is kept goes at the end of this turn: somebody waits for it now.
  void hurry();

  /// Bytes of the largest RPC reply that needs no Reply chunk on any connection; 0 without one.
  std::size_t max_inline_reply() const;
  /// Calls that are queued, or sent and not answered; of these, the ones that were sent.
  std::size_t open_calls() const;
  std::size_t calls_in_flight() const;
  /// Received so far, on the connections of the moment.
  std::uint64_t replies() const;

  /// Reports the connection that is up to the observer again, because the session must be made or
  /// bound anew. False when none is up: the next connection is reported anyway.
  bool rebind() { return keeper_.rebind(); }
  /// Replaces the connection that is up: the server seems dead. False when none is up.
  bool drop(Error reason) { return keeper_.drop(std::move(reason)); }
  /// Ends the pause before the next attempt to connect, if there is one.
  void try_at_once() { keeper_.try_at_once(); }
  /// For good. Every waiter of ready() gets an error.
  Task<void> close() { return keeper_.close(); }

  void visit_counters(CounterVisitor& visitor) const { keeper_.visit_counters(visitor); }

 private:
  Task<Result<void>> on_new_channel(rpc::Channel& channel) override;
  void on_channel_lost(const Error& reason) override { observer_->on_channel_lost(reason); }
  Duration longest_pause() const override { return observer_->longest_pause(); }
  void on_backward_call(rpc::BackwardCall& call) override { callbacks_->on_backward_call(call); }

  TrunkObserver* observer_ = nullptr;
  rpc::BackwardCallHandler* callbacks_ = nullptr;
  rpc::ConnectionKeeper keeper_;
};

}  // namespace nfsrdma::client
