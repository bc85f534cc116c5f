// One connection of a provider, recorded as RoCEv2.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "transport/capture/roce_flow.h"
#include "transport/fabric/fabric.h"
#include "transport/rdma/header.h"

namespace nfsrdma::recording {

/// Stands between an endpoint and its user. Costs allocations and copies of headers: made only for
/// a connection that is to be recorded.
class RecordedEndpoint final : public fabric::Endpoint, private fabric::EndpointHandler {
 public:
  explicit RecordedEndpoint(fabric::EndpointHandler& handler) : handler_(handler) {}

  /// Call stand_for() with the recorded endpoint before anything else is done; `flow` may be null.
  void connect(capture::Sink& sink, const fabric::Address& peer,
               std::span<const std::byte> private_data);
  void accepted(std::unique_ptr<capture::RoceFlow> flow) { flow_ = std::move(flow); }
  void stand_for(std::unique_ptr<fabric::Endpoint> endpoint) { endpoint_ = std::move(endpoint); }
  fabric::EndpointHandler& own_handler() { return *this; }

  Result<void> post_receive(fabric::ReceiveBuffer& buffer) override {
    return endpoint_->post_receive(buffer);
  }
  Result<void> post_send(const fabric::SendWork& work) override;
  void hurry() override { endpoint_->hurry(); }
  bool answered(void* context) override { return endpoint_->answered(context); }
  Result<void> prepare(fabric::Lease& lease, std::span<std::byte> memory,
                       fabric::Access access) override {
    return endpoint_->prepare(lease, memory, access);
  }
  void cancel(fabric::Lease& lease) override { endpoint_->cancel(lease); }
  bool invalidate(fabric::Lease& lease) override;
  std::optional<std::size_t> placed(const fabric::Lease& lease) const override {
    return endpoint_->placed(lease);
  }
  bool remote_invalidation_safe() const override { return endpoint_->remote_invalidation_safe(); }
  Result<void> post_write(std::span<const std::span<const std::byte>> pieces,
                          const fabric::Segment& to) override;
  Result<void> post_read(std::span<std::byte> into, const fabric::Segment& from,
                         void* context) override;
  void disconnect(Error reason) override { endpoint_->disconnect(std::move(reason)); }
  void visit_counters(CounterVisitor& visitor) const override {
    endpoint_->visit_counters(visitor);
  }

 private:
  /// Handle and offset: leases of static keys share a handle.
  using Key = std::pair<std::uint32_t, std::uint64_t>;
  struct OpenRead {
    std::uint32_t sequence = 0;
    std::span<const std::byte> into;
  };

  void on_established(const fabric::ConnectionInfo& info) override;
  void on_receive(fabric::ReceiveBuffer& buffer, std::size_t length,
                  std::optional<std::uint32_t> invalidated) override;
  void on_send_done(void* context) override { handler_.on_send_done(context); }
  void on_invalidated(fabric::Lease& lease) override { handler_.on_invalidated(lease); }
  void on_read_done(void* context) override;
  void on_disconnected(const Error& reason) override;

  void note_leases(const fabric::SendWork& work);
  void record_received(std::span<const std::byte> message,
                       std::optional<std::uint32_t> invalidated);
  void record_reads(std::uint32_t xid);
  void record_writes(const rdma::WriteChunk& chunk);

  fabric::EndpointHandler& handler_;
  std::unique_ptr<capture::RoceFlow> flow_;
  std::unique_ptr<fabric::Endpoint> endpoint_;
  capture::Sink* sink_ = nullptr;  // of an initiator, until it is connected
  fabric::Address peer_;
  std::vector<std::byte> private_data_;
  std::map<Key, fabric::Lease*> bound_;
  std::unordered_map<std::uint32_t, std::vector<Key>> reads_;  // offered by the call of an XID
  std::deque<OpenRead> open_reads_;
};

}  // namespace nfsrdma::recording
