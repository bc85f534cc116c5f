// Sockets of what stands in for a server: the product never listens on TCP.
#pragma once

#include "transport/base/result.h"
#include "transport/base/unique_fd.h"
#include "transport/net/address.h"

namespace nfsrdma::net {

/// A listening socket bound to `local`, with the options of set_connection_options().
Result<UniqueFd> make_listening_socket(const Address& local);

}  // namespace nfsrdma::net
