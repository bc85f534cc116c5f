#include "tests/responder/transport/service_call.h"

namespace nfsrdma::responder {

std::span<std::byte> ServiceCall::scratch(std::size_t size) {
  for (auto& buffer : scratch_) {
    if (buffer) continue;
    if (size > core_.pools.data->slot_size()) return {};
    buffer = core_.pools.data->acquire();
    return buffer ? buffer.first(size) : std::span<std::byte>();
  }
  return {};
}

std::optional<std::uint32_t> ServiceCall::forced_status(std::uint32_t operation) const {
  return operation == faults_.nfs_operation ? faults_.nfs_status : std::nullopt;
}

void ServiceCall::return_scratch() {
  for (auto& buffer : scratch_) buffer.reset();
}

}  // namespace nfsrdma::responder
