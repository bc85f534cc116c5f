// The provider for RDMA devices: librdmacm makes connections, libibverbs moves the data.
#pragma once

#include <memory>
#include <string>

#include "transport/base/reactor.h"
#include "transport/base/result.h"
#include "transport/fabric/fabric.h"
#include "transport/fabric/registration_choice.h"

namespace nfsrdma::fabric {

struct VerbsOptions {
  std::string device;  ///< only this one ("mlx5_0"); empty: the one that the route goes through
  RegistrationChoice registration = RegistrationChoice::automatic;
};

/// Through which RDMA device this machine's route to `peer` leaves: its name. With `wanted`,
/// whether that device has an address to reach `peer` from. The error says in one line why there is
/// none: no device, no /dev/infiniband, no device behind that route. Asks the kernel only; nothing
/// is sent and nothing waits.
Result<std::string> find_rdma_device(const Address& peer, const std::string& wanted = {});

/// A connection failed because this user may not lock the memory that the device needs.
bool is_memory_limit(const Error& error);

/// The provider on rdma-core. Devices are opened, and memory is registered, with the first
/// connection through them.
std::unique_ptr<Fabric> make_verbs_fabric(Reactor& reactor, VerbsOptions options = {});

}  // namespace nfsrdma::fabric
