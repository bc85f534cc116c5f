#include "tests/responder/transport/service_call.h"

#include "tests/responder/transport/rpc_rules.h"
#include "tests/support/unreduced.h"

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

void ServiceCall::decide_faults() {
  operations_ = operations_of(rpc_header_, arguments_);
  for (const auto number : operations_.numbers()) core_.counters.operations[number].add();
  faults_ = core_.faults.empty() ? CallFaults() : core_.faults.decide(operations_);
  if (!core_.reorder) return;
  faults_.delay += core_.reorder->hold();
  faults_.delay_reply += core_.reorder->hold();
}

void ServiceCall::spoil_results(std::size_t header_bytes) {
  if (!core_.faults.has_results() || operations_.numbers().empty()) return;
  const auto honest = testing_support::unreduced(results_, header_bytes);
  hostile::SpoiledReply reply = hostile::take_apart(honest);
  if (!core_.faults.spoil(reply)) return;
  core_.counters.results_spoiled.add();
  results_.rewind(header_bytes);
  hostile::answer_with(*this, reply);
}

void ServiceCall::return_scratch() {
  for (auto& buffer : scratch_) buffer.reset();
}

}  // namespace nfsrdma::responder
