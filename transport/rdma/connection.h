// One RPC-over-RDMA connection: an rpc::Channel on a fabric::Endpoint. Agrees on the version, tells
// Calls, Replies and the transport's own messages apart, and hands them to the requester, the
// backward responder and the exchange of properties.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "transport/fabric/fabric.h"
#include "transport/rdma/backward_responder.h"
#include "transport/rdma/header.h"
#include "transport/rdma/link.h"
#include "transport/rdma/pools.h"
#include "transport/rdma/property_exchange.h"
#include "transport/rdma/requester.h"
#include "transport/rdma/version_probe.h"
#include "transport/rpc/channel.h"

namespace nfsrdma::rdma {

/// Belongs to one reactor. Pools, counters, options and observer outlive it.
class Connection final : public rpc::Channel,
                         private fabric::EndpointHandler,
                         private LinkObserver,
                         private PropertyHost {
 public:
  Connection(Reactor& reactor, const Options& options, Pools& pools, Counters& counters,
             ServerVersion& server, rpc::ChannelObserver& observer);

  /// Starts connecting. Unless this fails, the observer is told the outcome later.
  Result<void> connect(fabric::Fabric& fabric, const net::Address& server);

  void submit(rpc::Call& call) override { requester_.submit(call); }
  void hurry() override { link_.hurry(); }
  const rpc::ChannelLimits& limits() const override { return limits_; }
  std::size_t max_inline_reply() const override { return link_.thresholds().reply - kMinHeader; }
  void close(Error reason) override { link_.end(std::move(reason)); }
  std::uint64_t replies() const override { return requester_.replies(); }
  std::size_t open_calls() const override { return requester_.open_calls(); }
  std::size_t calls_in_flight() const override { return requester_.credits().in_flight(); }
  /// The counters of all connections to this server, the present levels of this one, and what its
  /// provider has counted ("iwarp_fpdus_sent").
  void visit_counters(CounterVisitor& visitor) const override;

 private:
  void on_established(const fabric::ConnectionInfo& info) override;
  void on_receive(fabric::ReceiveBuffer& buffer, std::size_t length,
                  std::optional<std::uint32_t> invalidated) override;
  void on_send_done(void* context) override;
  void on_invalidated(fabric::Lease& lease) override;
  void on_read_done(void*) override {}  // this side posts no RDMA Read (V1-3.1-1)
  void on_disconnected(const Error& reason) override;
  void on_link_ending(const Error& reason) override;
  void on_receives_raised() override { properties_->on_receives_raised(); }

  // PropertyHost
  bool may_send_optional() override { return requester_.credits().take_optional(); }
  std::uint32_t optional_xid() override;
  void send_optional(std::uint32_t xid, const RdmaOptional& optional) override;
  bool raise_receives(std::uint32_t size) override { return link_.raise_receive_size(size); }
  void on_properties_changed() override;

  PropertyPolicy property_policy(bool remote_invalidation) const;
  /// The version is known: calls may be submitted.
  void go_up(std::uint32_t version);
  void prepare_version_two(bool remote_invalidation);
  void start_properties();
  void on_probed(const ProbeOutcome& outcome);

  void dispatch(std::span<const std::byte> bytes, rpc::MessageRef message,
                std::optional<std::uint32_t> invalidated);
  // `call` is the open Call with the XID of incoming_, or null: it is looked up once a message.
  CallContext* call_named_by(std::span<const std::byte> bytes);
  void dispatch_payload(CallContext* call, std::span<const std::byte> payload,
                        rpc::MessageRef message, std::optional<std::uint32_t> invalidated);
  void on_header_fault(CallContext* call, HeaderFault fault, std::span<const std::byte> bytes);
  void on_optional(std::size_t payload);
  void refuse_option(rpc_rdma_errcode code);
  void on_error(CallContext* call, std::optional<std::uint32_t> invalidated);
  void on_reply(CallContext* call, std::span<const std::byte> payload, rpc::MessageRef message,
                std::optional<std::uint32_t> invalidated);
  void report_down();
  /// Drops what cannot be used; ends the connection if a Call waits for it.
  void drop(CallContext* call, const char* what);

  const Options& options_;
  Pools& pools_;
  Counters& counters_;
  rpc::ChannelObserver& observer_;
  Link link_;
  Requester requester_;
  BackwardResponder backward_;
  ControlSender control_;  // used only where version 2 may be spoken
  VersionProbe probe_;
  std::optional<PropertyExchange> properties_;  // from connect() on, where version 2 may be spoken
  PrivateData announced_;
  Thresholds of_private_data_;  // what version 1 keeps to
  std::uint32_t last_optional_xid_;
  rpc::ChannelLimits limits_;
  std::string_view provider_;
  Header incoming_;  // scratch: too large to make for each message
  Header control_header_;
  // The observer destroys this object, which must not happen within a call from the provider.
  Deferred report_down_;
};

}  // namespace nfsrdma::rdma
