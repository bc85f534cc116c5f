// One client's connection: receives, credits, and which message goes where.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "tests/responder/fabric/listening_fabric.h"
#include "tests/responder/service.h"
#include "tests/responder/transport/backward_calls.h"
#include "tests/responder/transport/core.h"
#include "tests/responder/transport/rdma_call.h"
#include "tests/responder/transport/receive_set.h"
#include "transport/rdma/private_data.h"
#include "transport/rdma/property_exchange.h"

namespace nfsrdma::responder {

/// Told when a connection has ended, so that it can be taken apart.
class ConnectionOwner {
 public:
  virtual void on_connection_ended(class RdmaConnection& connection) = 0;

 protected:
  ~ConnectionOwner() = default;
};

/// Owned by the Responder; disposed of after on_disconnected. Reactor's thread only.
class RdmaConnection final : public Connection,
                             public fabric::EndpointHandler,
                             private rdma::PropertyHost {
 public:
  RdmaConnection(Core& core, ConnectionOwner& owner, std::uint64_t id);
  ~RdmaConnection() override;

  /// Accepts the request and posts receives. An error: the connection never was.
  Result<void> accept(fabric::ConnectRequest& request);
  /// Starts closing; on_connection_ended follows.
  void disconnect(const char* why) override;

  // Connection
  std::uint64_t id() const override { return id_; }
  Result<void> call_back(const CallbackTarget& target, std::function<void(xdr::Encoder&)> encode,
                         std::function<void(Result<xdr::Decoder>)> done) override;
  std::size_t max_backward_message() const override;

  // For the calls of this connection.
  fabric::Endpoint& endpoint() { return *endpoint_; }
  const rdma::Thresholds& thresholds() const { return thresholds_; }
  /// Bytes of a reply to a call of this version that may go inline.
  std::size_t reply_threshold(std::uint32_t version) const;
  /// Whether such a reply may invalidate a handle of its call.
  bool remote_invalidation(std::uint32_t version) const;
  /// A good reply of this version goes out next, or has gone out.
  void note_reply(std::uint32_t version);
  /// Version 2: asks the client for another receive size; raises the own one, unasked.
  void request_receive_size(std::uint32_t size);
  void raise_receive_size(std::uint32_t size);
  /// The peer's host, the same for all its connections.
  const std::string& client() const { return client_; }
  /// Credits to announce now: the client's request within the limit, never more than there are
  /// receives for, never zero. Posts receives first where the level rises (V1-3.3.1-9).
  std::uint32_t grant();
  /// Says this number, whatever there is. Receives are posted for as many as the client can have.
  std::uint32_t announce(std::uint32_t credits);
  void repost(Receive& receive);
  /// Calls whose Read chunks are being pulled.
  std::size_t pulls() const { return pulls_; }
  void pull_began() { ++pulls_; }
  void pull_ended() { --pulls_; }
  bool closing() const { return closing_; }
  /// A reply with RDMA Writes is going out: should they break the connection, this XID is a
  /// candidate.
  void note_writes_for(std::uint32_t xid);

  // EndpointHandler
  void on_established(const fabric::ConnectionInfo&) override {}
  void on_receive(fabric::ReceiveBuffer& buffer, std::size_t length,
                  std::optional<std::uint32_t> invalidated) override;
  void on_send_done(void* context) override;
  void on_invalidated(fabric::Lease&) override {}
  void on_read_done(void* context) override;
  void on_disconnected(const Error& reason) override;

 private:
  static constexpr std::size_t kRecentWrites = 16;
  /// XIDs of RDMA_OPTIONAL, far from those of callbacks.
  static constexpr std::uint32_t kFirstOptionalXid = 0x80000000;

  void take_message(RdmaCall& call, std::span<const std::byte> message);
  void take_other_version(RdmaCall& call);
  void take_option(RdmaCall& call, std::size_t payload);
  void take_error(RdmaCall& call);
  void take_stream(RdmaCall& call, std::span<const std::byte> stream);
  void take_call(RdmaCall& call, std::span<const std::byte> stream);
  void blame_calls(const Error& reason);
  std::size_t receives_for(std::uint32_t credits) const;
  void post_receives_for(std::uint32_t credits);
  void end(const Error& reason);

  // PropertyHost
  bool may_send_optional() override { return !closing_; }
  std::uint32_t optional_xid() override { return ++last_optional_xid_; }
  void send_optional(std::uint32_t xid, const rdma::RdmaOptional& optional) override;
  bool raise_receives(std::uint32_t size) override { return receives_->raise(size); }
  void on_properties_changed() override {}

  Core& core_;
  ConnectionOwner& owner_;
  const std::uint64_t id_;
  std::string client_;
  std::unique_ptr<fabric::Endpoint> endpoint_;
  rdma::Thresholds thresholds_;
  std::shared_ptr<ReceiveSet> receives_;
  BackwardCalls backward_;
  rdma::PropertyExchange properties_;
  std::uint32_t version_ = rdma::kVersionOne;  // of the last reply, and so of the connection
  std::uint32_t last_optional_xid_ = kFirstOptionalXid;
  IntrusiveList<RdmaCall> calls_;  // everything that has not been released
  std::uint32_t requested_ = 1;    // the client's last rdma_credit
  std::uint32_t granted_ = 1;      // the last level announced
  std::array<std::uint32_t, kRecentWrites> recent_writes_{};
  std::size_t recent_writes_count_ = 0;
  std::size_t pulls_ = 0;
  std::uint32_t receives_in_use_ = 0;  // messages not yet answered or dropped
  bool closing_ = false;
  bool ended_ = false;
};

}  // namespace nfsrdma::responder
