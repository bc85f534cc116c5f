#include "tests/lab/wire/provider.h"

#include <utility>

#include "transport/fabric/verbs/verbs.h"
#include "transport/recording/recorded_fabric.h"

namespace nfsrdma::lab {

std::unique_ptr<fabric::Fabric> make_provider(Reactor& reactor, Carrier carrier,
                                              const FabricMaker& verbs, capture::Sink* capture) {
  if (carrier != Carrier::verbs) return fabric::make_iwarp_fabric(reactor);
  auto devices = verbs ? verbs(reactor) : fabric::make_verbs_fabric(reactor);
  if (!capture) return devices;
  return std::make_unique<recording::RecordedFabric>(std::move(devices), *capture);
}

}  // namespace nfsrdma::lab
