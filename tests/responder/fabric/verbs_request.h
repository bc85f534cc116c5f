// An incoming connection that waits for the consumer's decision.
#pragma once

#include <memory>
#include <string>

#include "tests/responder/fabric/listening_fabric.h"
#include "transport/fabric/verbs/verbs_context.h"

namespace nfsrdma::fabric::verbs {

class VerbsConnectRequest final : public ConnectRequest, private EventHandler {
 public:
  VerbsConnectRequest(std::shared_ptr<VerbsContext> context, const ConnectionEvent& request);

  std::span<const std::byte> private_data() const override { return request_.private_data(); }
  std::string peer() const override;
  Result<std::unique_ptr<Endpoint>> accept(EndpointHandler& handler,
                                           const EndpointOptions& options) override;
  void reject(std::span<const std::byte> private_data) override;

 private:
  /// The peer gave up meanwhile; accepting fails soon enough.
  void on_event(const ConnectionEvent&) override {}

  std::shared_ptr<VerbsContext> context_;
  ConnectionId id_;
  ConnectionEvent request_;
};

}  // namespace nfsrdma::fabric::verbs
