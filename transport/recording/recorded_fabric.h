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
class RecordedFabric final : public fabric::ForwardingFabric {
 public:
  /// `sink` outlives it.
  RecordedFabric(std::unique_ptr<fabric::Fabric> fabric, capture::Sink& sink)
      : ForwardingFabric(*fabric), fabric_(std::move(fabric)), sink_(sink) {}

  Result<std::unique_ptr<fabric::Endpoint>> connect(
      const fabric::Address& peer, fabric::EndpointHandler& handler,
      const fabric::EndpointOptions& options) override;
  Result<std::unique_ptr<fabric::Listener>> listen(const fabric::Address& local,
                                                   fabric::ListenHandler& handler) override;

 private:
  std::unique_ptr<fabric::Fabric> fabric_;
  capture::Sink& sink_;
};

}  // namespace nfsrdma::recording
