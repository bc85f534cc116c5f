// The provider for RDMA devices as a server has it.
#pragma once

#include <memory>

#include "tests/responder/fabric/listening_fabric.h"
#include "transport/base/reactor.h"
#include "transport/fabric/verbs/verbs.h"

namespace nfsrdma::fabric {

/// The client's provider on rdma-core, and a listener that shares its devices. Devices are opened,
/// and memory is registered, with a listener on an address of theirs or with the first connection.
std::unique_ptr<ListeningFabric> make_listening_verbs_fabric(Reactor& reactor,
                                                             VerbsOptions options = {});

}  // namespace nfsrdma::fabric
