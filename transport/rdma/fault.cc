#include "transport/rdma/fault.h"

#include <array>

namespace nfsrdma::rdma {

std::string_view fault_name(int fault) {
  static constexpr std::array<std::string_view, 6> names = {
      "no fault",
      "the server does not speak this version of RPC-over-RDMA",
      "the server could not process the transport header or its chunks",
      "the call is too large for the transport",
      "the reply could be too large for the transport",
      "memory could not be registered"};
  const auto index = static_cast<std::size_t>(fault);
  return index < names.size() ? names[index] : "unknown fault";
}

}  // namespace nfsrdma::rdma
