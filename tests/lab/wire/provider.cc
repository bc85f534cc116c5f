#include "tests/lab/wire/provider.h"

#include <utility>

#include "tests/responder/fabric/recorded_listening_fabric.h"
#include "tests/responder/fabric/verbs_fabric.h"

namespace nfsrdma::lab {

std::unique_ptr<fabric::ListeningFabric> make_provider(Reactor& reactor, Carrier carrier,
                                                       const FabricMaker& verbs,
                                                       capture::Sink* capture) {
  if (carrier != Carrier::verbs) return fabric::make_listening_iwarp_fabric(reactor);
  auto devices = verbs ? verbs(reactor) : fabric::make_listening_verbs_fabric(reactor);
  if (!capture) return devices;
  return std::make_unique<recording::RecordedListeningFabric>(std::move(devices), *capture);
}

}  // namespace nfsrdma::lab
