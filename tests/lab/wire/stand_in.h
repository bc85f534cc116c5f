// iWARP in the place of an RDMA device, for tests: takes, as a device does, registered memory only.
#pragma once

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>
#include <vector>

#include "tests/lab/wire/network.h"

namespace nfsrdma::lab::testing {

class StandIn final : public fabric::Fabric {
 public:
  /// `invalidation`: whether its keys are such that a peer may invalidate them.
  StandIn(Reactor& reactor, bool invalidation)
      : inner_(fabric::make_iwarp_fabric(reactor)), invalidation_(invalidation) {}

  std::string_view name() const override { return "stand-in"; }
  bool remote_invalidation_safe(const fabric::Address&) override { return invalidation_; }
  Result<void> register_pool(BufferPool& pool) override {
    pools_.push_back(pool.memory());
    return {};
  }
  Result<std::unique_ptr<fabric::Endpoint>> connect(
      const fabric::Address& peer, fabric::EndpointHandler& handler,
      const fabric::EndpointOptions& options) override {
    fabric::EndpointOptions own = options;
    own.capture = nullptr;  // a device knows nothing of it
    auto endpoint = inner_->connect(peer, handler, own);
    if (!endpoint) return endpoint;
    return std::unique_ptr<fabric::Endpoint>(std::make_unique<End>(*this, std::move(*endpoint)));
  }
  Result<std::unique_ptr<fabric::Listener>> listen(const fabric::Address&,
                                                   fabric::ListenHandler&) override {
    return fail(Error::local(EOPNOTSUPP, "listen"));
  }

 private:
  using Memory = std::span<const std::byte>;

  Result<void> check(Memory memory) const {
    const bool known = std::ranges::any_of(pools_, [memory](const auto& pool) {
      return memory.data() >= pool.data() &&
             memory.data() + memory.size() <= pool.data() + pool.size();
    });
    if (known) return {};
    return fail(Error::local(EFAULT, "memory that no registered pool has"));
  }

  class End final : public fabric::Endpoint {
   public:
    End(const StandIn& fabric, std::unique_ptr<fabric::Endpoint> inner)
        : fabric_(fabric), inner_(std::move(inner)) {}

    Result<void> post_receive(fabric::ReceiveBuffer& buffer) override {
      TRY(fabric_.check(buffer.memory));
      return inner_->post_receive(buffer);
    }
    Result<void> post_send(const fabric::SendWork& work) override {
      for (const auto& piece : work.pieces) TRY(fabric_.check(piece));
      return inner_->post_send(work);
    }
    Result<void> prepare(fabric::Lease& lease, std::span<std::byte> memory,
                         fabric::Access access) override {
      TRY(fabric_.check(memory));
      return inner_->prepare(lease, memory, access);
    }
    void cancel(fabric::Lease& lease) override { inner_->cancel(lease); }
    bool invalidate(fabric::Lease& lease) override { return inner_->invalidate(lease); }
    bool remote_invalidation_safe() const override { return fabric_.invalidation_; }
    Result<void> post_write(std::span<const Memory> pieces, const fabric::Segment& to) override {
      return inner_->post_write(pieces, to);
    }
    Result<void> post_read(std::span<std::byte> into, const fabric::Segment& from,
                           void* context) override {
      return inner_->post_read(into, from, context);
    }
    void disconnect(Error reason) override { inner_->disconnect(std::move(reason)); }
    void visit_counters(CounterVisitor& visitor) const override { inner_->visit_counters(visitor); }

   private:
    const StandIn& fabric_;
    std::unique_ptr<fabric::Endpoint> inner_;
  };

  std::unique_ptr<fabric::Fabric> inner_;
  const bool invalidation_;
  std::vector<std::span<std::byte>> pools_;
};

inline FabricMaker stand_in(bool invalidation = true) {
  return
      [invalidation](Reactor& reactor) { return std::make_unique<StandIn>(reactor, invalidation); };
}

}  // namespace nfsrdma::lab::testing
