// A provider that does to another one's connections what a script says.
#pragma once

#include <memory>

#include "tests/faults/fabric_fault.h"
#include "transport/base/reactor.h"
#include "transport/fabric/fabric.h"

namespace nfsrdma::faults {

/// `inner` and `script` outlive it and all it makes. One reactor, its thread.
class FaultyFabric final : public fabric::Fabric {
 public:
  FaultyFabric(Reactor& reactor, fabric::Fabric& inner, FabricScript& script)
      : reactor_(reactor), inner_(inner), script_(script) {}

  std::string_view name() const override { return inner_.name(); }
  bool remote_invalidation_safe(const fabric::Address& peer) override {
    return inner_.remote_invalidation_safe(peer);
  }
  Result<void> register_pool(BufferPool& pool) override { return inner_.register_pool(pool); }
  Result<std::unique_ptr<fabric::Endpoint>> connect(
      const fabric::Address& peer, fabric::EndpointHandler& handler,
      const fabric::EndpointOptions& options) override;
  Result<std::unique_ptr<fabric::Listener>> listen(const fabric::Address& local,
                                                   fabric::ListenHandler& handler) override;

 private:
  Reactor& reactor_;
  fabric::Fabric& inner_;
  FabricScript& script_;
};

}  // namespace nfsrdma::faults
