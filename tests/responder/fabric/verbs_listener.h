// Waits for connections, on one address or on all RDMA devices.
#pragma once

#include <memory>

#include "tests/responder/fabric/listening_fabric.h"
#include "transport/fabric/verbs/verbs_context.h"

namespace nfsrdma::fabric::verbs {

class VerbsListener final : public Listener, private EventHandler {
 public:
  VerbsListener(std::shared_ptr<VerbsContext> context, ListenHandler& handler)
      : context_(std::move(context)), handler_(handler) {}

  Result<void> start(const Address& local);
  Address address() const override;

 private:
  void on_event(const ConnectionEvent& event) override;

  std::shared_ptr<VerbsContext> context_;
  ListenHandler& handler_;
  ConnectionId id_;
};

}  // namespace nfsrdma::fabric::verbs
