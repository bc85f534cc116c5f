// iWARP in the place of an RDMA device, for tests: takes, as a device does, registered memory only.
#pragma once

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>
#include <vector>

#include "tests/lab/wire/network.h"

namespace nfsrdma::lab::testing {

class StandIn final : public fabric::ListeningFabric {
 public:
  /// `invalidation`: whether its keys are such that a peer may invalidate them.
  StandIn(Reactor& reactor, bool invalidation)
      : inner_(fabric::make_listening_iwarp_fabric(reactor)), invalidation_(invalidation) {}

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
    return checked(inner_->connect(peer, handler, own));
  }
  Result<std::unique_ptr<fabric::Listener>> listen(const fabric::Address& local,
                                                   fabric::ListenHandler& handler) override {
    listeners_.push_back(std::make_unique<Requests>(*this, handler));
    return inner_->listen(local, *listeners_.back());
  }

 private:
  using Memory = std::span<const std::byte>;

  Result<std::unique_ptr<fabric::Endpoint>> checked(
      Result<std::unique_ptr<fabric::Endpoint>> endpoint) const {
    if (!endpoint) return endpoint;
    return std::unique_ptr<fabric::Endpoint>(std::make_unique<End>(*this, std::move(*endpoint)));
  }

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
      for (const auto& piece : pieces) TRY(fabric_.check(piece));
      return inner_->post_write(pieces, to);
    }
    Result<void> post_read(std::span<std::byte> into, const fabric::Segment& from,
                           void* context) override {
      TRY(fabric_.check(into));
      return inner_->post_read(into, from, context);
    }
    void disconnect(Error reason) override { inner_->disconnect(std::move(reason)); }
    void visit_counters(CounterVisitor& visitor) const override { inner_->visit_counters(visitor); }

   private:
    const StandIn& fabric_;
    std::unique_ptr<fabric::Endpoint> inner_;
  };

  class Request final : public fabric::ConnectRequest {
   public:
    Request(const StandIn& fabric, std::unique_ptr<fabric::ConnectRequest> inner)
        : fabric_(fabric), inner_(std::move(inner)) {}
    Memory private_data() const override { return inner_->private_data(); }
    std::string peer() const override { return inner_->peer(); }
    Result<std::unique_ptr<fabric::Endpoint>> accept(
        fabric::EndpointHandler& handler, const fabric::EndpointOptions& options) override {
      fabric::EndpointOptions own = options;
      own.capture = nullptr;
      return fabric_.checked(inner_->accept(handler, own));
    }
    void reject(Memory private_data) override { inner_->reject(private_data); }

   private:
    const StandIn& fabric_;
    std::unique_ptr<fabric::ConnectRequest> inner_;
  };

  class Requests final : public fabric::ListenHandler {
   public:
    Requests(const StandIn& fabric, fabric::ListenHandler& handler)
        : fabric_(fabric), handler_(handler) {}
    void on_connect_request(std::unique_ptr<fabric::ConnectRequest> request) override {
      handler_.on_connect_request(std::make_unique<Request>(fabric_, std::move(request)));
    }

   private:
    const StandIn& fabric_;
    fabric::ListenHandler& handler_;
  };

  std::unique_ptr<fabric::ListeningFabric> inner_;
  const bool invalidation_;
  std::vector<std::span<std::byte>> pools_;
  std::vector<std::unique_ptr<Requests>> listeners_;
};

inline FabricMaker stand_in(bool invalidation = true) {
  return
      [invalidation](Reactor& reactor) { return std::make_unique<StandIn>(reactor, invalidation); };
}

}  // namespace nfsrdma::lab::testing
