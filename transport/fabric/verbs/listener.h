// Waits for connections, on one address or on all RDMA devices.
#pragma once

#include <memory>

#include "transport/fabric/fabric.h"
#include "transport/fabric/verbs/core.h"

namespace nfsrdma::fabric::verbs {

class VerbsListener final : public Listener, private EventHandler {
 public:
  VerbsListener(std::shared_ptr<Core> core, ListenHandler& handler)
      : core_(std::move(core)), handler_(handler) {}

  Result<void> start(const Address& local);
  Address address() const override;

 private:
  void on_event(const ConnectionEvent& event) override;

  std::shared_ptr<Core> core_;
  ListenHandler& handler_;
  ConnectionId id_;
};

}  // namespace nfsrdma::fabric::verbs
