// Records what passes the boundary of a provider as RoCEv2: for RDMA devices, whose packets no
// program sees.
#pragma once

#include <memory>

#include "transport/capture/sink.h"
#include "transport/fabric/fabric.h"

namespace nfsrdma::recording {

/// A fabric whose connections are recorded while the sink is on; others are those of the provider,
/// and cost nothing. Connections belong to the fabric's reactor.
///
/// Messages, and what this side writes and reads, are recorded when they are posted or have come.
/// What the peer has read or written by RDMA is not seen here: it is recorded when the reply
/// comes, from the memory that the call had exposed, as long as the reply says.
class RecordedFabric final : public fabric::Fabric {
 public:
  /// `sink` outlives it.
  RecordedFabric(std::unique_ptr<fabric::Fabric> fabric, capture::Sink& sink)
      : fabric_(std::move(fabric)), sink_(sink) {}

  std::string_view name() const override { return fabric_->name(); }
  bool remote_invalidation_safe(const fabric::Address& peer) override {
    return fabric_->remote_invalidation_safe(peer);
  }
  Result<void> register_pool(BufferPool& pool) override { return fabric_->register_pool(pool); }
  Result<std::unique_ptr<fabric::Endpoint>> connect(
      const fabric::Address& peer, fabric::EndpointHandler& handler,
      const fabric::EndpointOptions& options) override;

 private:
  std::unique_ptr<fabric::Fabric> fabric_;
  capture::Sink& sink_;
};

}  // namespace nfsrdma::recording
