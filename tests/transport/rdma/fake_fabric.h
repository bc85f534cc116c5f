// A provider without a network: the test is the peer. It captures what is sent, delivers messages,
// reaches leased memory by handle as a server would, decides when Sends and invalidations complete,
// and breaks the connection. Everything arrives through the reactor, as with a real provider.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "transport/fabric/fabric.h"

namespace nfsrdma::test {

using Bytes = std::vector<std::byte>;

class FakeFabric;

/// One Send of the side under test.
struct SentMessage {
  Bytes bytes;
  std::vector<std::span<const std::byte>> pieces;
  std::vector<fabric::Lease*> leases;
  std::optional<std::uint32_t> invalidate;
  void* context = nullptr;
  bool answered = false;  ///< the sender says when its answer has come
  net::Pace pace = net::Pace::prompt;
  bool done = false;
  std::size_t receives_posted = 0;  ///< at the moment of posting
};

class FakeEndpoint final : public fabric::Endpoint {
 public:
  FakeEndpoint(FakeFabric& fabric, fabric::EndpointHandler& handler, Bytes private_data,
               std::uint32_t handle_base);
  ~FakeEndpoint() override;

  // The peer's side. Each call takes effect in the reactor's next turn.
  void establish(Bytes private_data);
  void deliver(Bytes message, std::optional<std::uint32_t> invalidated = {});
  void complete_send(std::size_t index);
  void complete_invalidation(std::size_t index);
  void lose(fabric::Fault fault);
  /// Fault injection: a posted receive that the provider has lost.
  void take_receive();

  /// RDMA Write and Read by the peer: false when it has no right to the memory.
  bool remote_write(const fabric::Segment& to, std::span<const std::byte> data);
  std::optional<Bytes> remote_read(const fabric::Segment& from) const;
  bool reachable(std::uint32_t handle) const;

  const SentMessage& sent(std::size_t index) const { return sent_[index]; }
  std::size_t sent_count() const { return sent_.size(); }
  /// What comes next is sent(0). All Sends must be done.
  void forget_sent() { sent_.clear(); }
  std::size_t receives() const { return receives_.size(); }
  const Bytes& private_data() const { return private_data_; }
  std::span<fabric::Lease* const> invalidating() const { return invalidating_; }
  /// Sends whose memory changed before they were done (I4).
  std::size_t corrupted_sends() const { return corrupted_sends_; }
  bool disconnecting() const { return disconnecting_; }
  bool down() const { return down_; }
  const std::optional<Error>& disconnect_reason() const { return reason_; }
  /// How often somebody has waited for a message that may be kept.
  int hurries() const { return hurries_; }

  // What this provider does by itself.
  bool sends_complete = true;
  bool ends_sends_by_answer = false;  ///< instead, where it may
  bool invalidates_at_once = true;
  bool disconnects_when_asked = true;
  bool fail_receives = false;
  bool fail_sends = false;
  bool tells_placed = false;  ///< as iwarp does and verbs cannot; for Writes from the beginning on
  int prepares_before_failure = -1;    ///< negative: prepare never fails
  std::optional<Error> prepare_error;  ///< instead of one that tells of resources

  // fabric::Endpoint
  Result<void> post_receive(fabric::ReceiveBuffer& buffer) override;
  Result<void> post_send(const fabric::SendWork& work) override;
  void hurry() override { ++hurries_; }
  bool answered(void* context) override;
  Result<void> prepare(fabric::Lease& lease, std::span<std::byte> memory,
                       fabric::Access access) override;
  void cancel(fabric::Lease& lease) override;
  bool invalidate(fabric::Lease& lease) override;
  std::optional<std::size_t> placed(const fabric::Lease& lease) const override;
  bool remote_invalidation_safe() const override;
  Result<void> post_write(std::span<const std::span<const std::byte>> pieces,
                          const fabric::Segment& to) override;
  Result<void> post_read(std::span<std::byte> into, const fabric::Segment& from,
                         void* context) override;
  void disconnect(Error reason) override;
  void visit_counters(CounterVisitor&) const override {}

 private:
  template <class Work>
  void later(Work work);
  const fabric::Lease* find(std::uint32_t handle) const;
  void free_lease(fabric::Lease& lease);
  void finish_send(SentMessage& message);
  void go_down(const Error& reason);

  FakeFabric& fabric_;
  fabric::EndpointHandler& handler_;
  Bytes private_data_;
  std::uint32_t next_handle_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  std::deque<fabric::ReceiveBuffer*> receives_;
  int hurries_ = 0;
  std::vector<SentMessage> sent_;
  std::map<std::uint32_t, fabric::Lease*> leases_;
  std::map<std::uint32_t, std::size_t> placed_;
  std::set<std::uint32_t> invalidated_;
  std::vector<fabric::Lease*> invalidating_;
  std::size_t corrupted_sends_ = 0;
  bool disconnecting_ = false;
  bool down_ = false;
  std::optional<Error> reason_;
};

class FakeFabric final : public fabric::Fabric {
 public:
  explicit FakeFabric(Reactor& reactor) : reactor_(reactor) {}

  std::string_view name() const override { return "fake"; }
  bool remote_invalidation_safe(const fabric::Address&) override { return remote_invalidation; }
  Result<void> register_pool(BufferPool&) override { return {}; }
  Result<std::unique_ptr<fabric::Endpoint>> connect(
      const fabric::Address& peer, fabric::EndpointHandler& handler,
      const fabric::EndpointOptions& options) override;

  Reactor& reactor() { return reactor_; }
  /// The next connection hands out the same handles as the first one.
  void restart_handles() { handle_connections_ = 0; }
  /// The newest connection; null after it was destroyed.
  FakeEndpoint* endpoint() { return newest_; }
  std::size_t connections() const { return connections_; }

  bool remote_invalidation = true;
  /// Connections come up by themselves, with this private data.
  bool establishes = true;
  Bytes peer_private_data;
  bool refuses = false;        ///< connect fails at once
  bool fail_receives = false;  ///< of endpoints made from now on
  bool sends_complete = true;
  bool invalidates_at_once = true;

 private:
  friend class FakeEndpoint;
  Reactor& reactor_;
  FakeEndpoint* newest_ = nullptr;
  std::size_t connections_ = 0;
  std::uint32_t handle_connections_ = 0;
};

}  // namespace nfsrdma::test
