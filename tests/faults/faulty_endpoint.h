// One connection of a FaultyFabric.
#pragma once

#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "tests/faults/fabric_fault.h"
#include "transport/base/reactor.h"
#include "transport/fabric/fabric.h"

namespace nfsrdma::faults {

/// What a provider says that has not enough of something.
Error no_resources(const char* step);

/// Between a consumer and the provider's endpoint, which it owns: asks the script about each post
/// and completion. One reactor, its thread.
class FaultyEndpoint final : public fabric::Endpoint, public fabric::EndpointHandler {
 public:
  FaultyEndpoint(Reactor& reactor, FabricScript& script, fabric::EndpointHandler& consumer)
      : reactor_(reactor), script_(script), consumer_(consumer) {}

  void adopt(std::unique_ptr<fabric::Endpoint> inner) { inner_ = std::move(inner); }
  /// A fault of the whole connection happens now.
  void meet(const FabricFault& fault);

  Result<void> post_receive(fabric::ReceiveBuffer& buffer) override;
  Result<void> post_send(const fabric::SendWork& work) override;
  void hurry() override { inner_->hurry(); }
  bool answered(void* context) override;
  Result<void> prepare(fabric::Lease& lease, std::span<std::byte> memory,
                       fabric::Access access) override;
  void cancel(fabric::Lease& lease) override { inner_->cancel(lease); }
  bool invalidate(fabric::Lease& lease) override { return inner_->invalidate(lease); }
  std::optional<std::size_t> placed(const fabric::Lease& lease) const override {
    return inner_->placed(lease);
  }
  bool remote_invalidation_safe() const override { return inner_->remote_invalidation_safe(); }
  Result<void> post_write(std::span<const std::span<const std::byte>> pieces,
                          const fabric::Segment& to) override;
  Result<void> post_read(std::span<std::byte> into, const fabric::Segment& from,
                         void* context) override;
  void disconnect(Error reason) override { inner_->disconnect(std::move(reason)); }
  void visit_counters(CounterVisitor& visitor) const override { inner_->visit_counters(visitor); }

 private:
  using Pieces = std::vector<std::span<const std::byte>>;
  struct LateWrite {
    std::vector<std::byte> bytes;
    fabric::Segment to;
  };
  /// A completion, or a Receive to be posted, that waits for its time.
  struct Held {
    Held(Reactor& reactor, std::function<void()> act) : timer(reactor, std::move(act)) {}
    Timer timer;
  };

  // EndpointHandler
  void on_established(const fabric::ConnectionInfo& info) override {
    consumer_.on_established(info);
  }
  void on_receive(fabric::ReceiveBuffer& buffer, std::size_t length,
                  std::optional<std::uint32_t> invalidated) override {
    consumer_.on_receive(buffer, length, invalidated);
  }
  void on_send_done(void* context) override;
  void on_invalidated(fabric::Lease& lease) override { consumer_.on_invalidated(lease); }
  void on_read_done(void* context) override;
  void on_disconnected(const Error& reason) override;

  /// Later, or never when it is 0 ms.
  void hold(std::int64_t milliseconds, std::function<void()> act);
  void invalidate_otherwise(What what, fabric::SendWork& work) const;
  Result<void> post_late_writes();
  void note_handle(std::uint32_t handle);

  Reactor& reactor_;
  FabricScript& script_;
  fabric::EndpointHandler& consumer_;
  std::list<Held> held_;
  std::vector<LateWrite> late_;                ///< for after the next Send
  std::deque<std::vector<std::byte>> copies_;  ///< sent late; theirs as long as the connection
  std::deque<std::uint32_t> handles_;          ///< of the peer, the latest last
  std::map<void*, std::int64_t> late_done_;    ///< Sends whose completion is late, by so many ms
  std::optional<Error> end_;                   ///< what the consumer is told of the end
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  std::unique_ptr<fabric::Endpoint> inner_;
};

}  // namespace nfsrdma::faults
