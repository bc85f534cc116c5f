// Which provider of RDMA a carrier has.
#pragma once

#include <functional>
#include <memory>

#include "tests/lab/wire/peer.h"
#include "tests/responder/fabric/listening_fabric.h"
#include "transport/base/reactor.h"
#include "transport/capture/sink.h"

namespace nfsrdma::lab {

/// Makes a provider on a reactor.
using FabricMaker = std::function<std::unique_ptr<fabric::ListeningFabric>(Reactor&)>;

/// The provider of a carrier that has RDMA. `verbs` makes that of Carrier::verbs; empty: the
/// product's. With `capture`, a device's connections are recorded as RoCEv2 where they pass the
/// provider's boundary, since no program sees what a device sends; iWARP's are recorded by what
/// EndpointOptions::capture says.
std::unique_ptr<fabric::ListeningFabric> make_provider(Reactor& reactor, Carrier carrier,
                                                       const FabricMaker& verbs,
                                                       capture::Sink* capture);

}  // namespace nfsrdma::lab
