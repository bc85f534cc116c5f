// Error codes of Layer::transport: what goes wrong at the level of the RPC-over-RDMA header.
#pragma once

#include <string_view>

#include "transport/base/error.h"
#include "transport/fabric/fabric.h"

namespace nfsrdma::rdma {

enum class Fault : int {
  none,
  err_vers,         ///< the server does not speak the version (RDMA_ERROR, ERR_VERS)
  err_chunk,        ///< the server could not use the header or chunks (RDMA_ERROR, ERR_CHUNK)
  call_too_large,   ///< the Call fits neither inline nor in the chunks a server takes
  reply_too_large,  ///< the largest possible reply does not fit a slot of the Reply chunk pool
  registration,     ///< memory could not be exposed
};
std::string_view fault_name(int fault);

inline Error transport_error(Fault fault, const char* step, std::string detail = {}) {
  return Error{Layer::transport, static_cast<int>(fault), step, std::move(detail)};
}

using net::protocol_error;

}  // namespace nfsrdma::rdma
