// A provider that does to another one's connections what a script says.
#pragma once

#include <memory>

#include "tests/faults/fabric_fault.h"
#include "tests/responder/fabric/listening_fabric.h"
#include "transport/base/reactor.h"

namespace nfsrdma::faults {

/// `inner` and `script` outlive it and all it makes. One reactor, its thread.
class FaultyFabric final : public fabric::ForwardingFabric {
 public:
  FaultyFabric(Reactor& reactor, fabric::ListeningFabric& inner, FabricScript& script)
      : ForwardingFabric(inner), reactor_(reactor), inner_(inner), script_(script) {}

  Result<std::unique_ptr<fabric::Endpoint>> connect(
      const fabric::Address& peer, fabric::EndpointHandler& handler,
      const fabric::EndpointOptions& options) override;
  Result<std::unique_ptr<fabric::Listener>> listen(const fabric::Address& local,
                                                   fabric::ListenHandler& handler) override;

 private:
  Reactor& reactor_;
  fabric::ListeningFabric& inner_;
  FabricScript& script_;
};

}  // namespace nfsrdma::faults
