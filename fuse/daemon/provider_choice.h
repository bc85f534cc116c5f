// Chooses the provider of RDMA to a server: an RDMA device, or iWARP in user space.
#pragma once

#include <memory>
#include <string>

#include "fuse/options/options.h"
#include "transport/base/reactor.h"
#include "transport/base/result.h"
#include "transport/fabric/fabric.h"

namespace nfsrdma::fuse {

struct ProviderChoice {
  Provider provider = Provider::iwarp;  ///< never automatic
  std::string reason;                   ///< for the log
};

/// Decides by the options and by the device that the route goes through, or the error that says why
/// there is none. An error when a device was asked for and cannot be had.
Result<ProviderChoice> choose_provider(const TransportOptions& options,
                                       const Result<std::string>& device);

/// Whether to try iwarp after verbs has failed in this way.
bool may_fall_back(const TransportOptions& options, const Error& error);

/// The provider for connections to `server`. Logs which and why.
Result<std::unique_ptr<fabric::Fabric>> make_fabric(Reactor& reactor,
                                                    const TransportOptions& options,
                                                    const fabric::Address& server);

}  // namespace nfsrdma::fuse
