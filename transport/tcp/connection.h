// One TCP connection that carries RPCs: an rpc::Channel.
#pragma once

#include <memory>

#include "transport/base/unique_fd.h"
#include "transport/net/address.h"
#include "transport/rpc/channel.h"
#include "transport/tcp/backward_responder.h"
#include "transport/tcp/link.h"
#include "transport/tcp/pools.h"
#include "transport/tcp/receive_path.h"
#include "transport/tcp/record_reader.h"
#include "transport/tcp/requester.h"

namespace nfsrdma::tcp {

/// Belongs to one reactor. Pools, counters, options and observer outlive it.
class Connection final : public rpc::Channel,
                         private FdHandler,
                         private LinkObserver,
                         private MessageHandler {
 public:
  Connection(Reactor& reactor, const Options& options, Pools& pools, Counters& counters,
             rpc::ChannelObserver& observer);
  ~Connection() override;

  /// Starts connecting. Unless this fails, the observer is told the outcome later.
  Result<void> connect(const net::Address& server);

  void submit(rpc::Call& call) override { requester_.submit(call); }
  void hurry() override { link_.hurry(); }
  const rpc::ChannelLimits& limits() const override { return limits_; }
  void close(Error reason) override { link_.end(std::move(reason)); }
  std::uint64_t replies() const override { return requester_.replies(); }
  std::size_t open_calls() const override { return requester_.open_calls(); }
  std::size_t calls_in_flight() const override { return requester_.in_flight(); }
  /// The counters of all connections to this server, and the present levels of this one.
  void visit_counters(CounterVisitor& visitor) const override;

 private:
  void on_ready(std::uint32_t events) override;
  void on_link_ending(const Error& reason) override;
  CallContext* find_open(std::uint32_t xid) override { return requester_.find(xid); }
  std::size_t least_payload_offset() const override { return requester_.least_payload_offset(); }
  void on_reply(CallContext& context, Received reply) override;
  void on_call(std::uint32_t xid, Received call) override;
  void on_memory_free() override { resume_.schedule(); }

  void on_connected();
  Result<void> attach();
  void receive();
  void on_violation();
  void on_end_of_stream();
  void go_down();

  Counters& counters_;
  Pools& pools_;
  rpc::ChannelObserver& observer_;
  net::Address server_;
  UniqueFd connecting_;
  Timer patience_;
  Link link_;
  Requester requester_;
  BackwardResponder backward_;
  ReceivePath receive_path_;
  RecordReader reader_;
  rpc::ChannelLimits limits_;
  Deferred resume_;
  // The observer destroys this object, which must not happen under its own feet.
  Deferred go_down_;
};

}  // namespace nfsrdma::tcp
