// Finds the RDMA device that leads to an address.
#pragma once

#include <string>

#include "transport/base/result.h"
#include "transport/fabric/fabric.h"
#include "transport/fabric/verbs/handles.h"

namespace nfsrdma::fabric::verbs {

/// An id bound to the device through which the route to a peer leaves.
struct Route {
  Address local;  ///< the device's address, without a port
  EventChannelHandle channel;
  ConnectionId id;

  ibv_context* device() const { return id->verbs; }
  std::string device_name() const { return ::ibv_get_device_name(id->verbs->device); }
};

/// Asks the kernel's routing table for the local address, and librdmacm for the device that has it.
/// With a device's name: an address of that device, the one that the route leaves from if it has
/// it.
Result<Route> find_route(const Address& peer, const std::string& wanted = {});

}  // namespace nfsrdma::fabric::verbs
