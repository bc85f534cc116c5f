#include "tests/responder/transport/counters.h"

#include <string>
#include <utility>

namespace nfsrdma::responder {

void Counters::visit(CounterVisitor& visitor) const {
  messages.visit(visitor);
  const std::pair<const char*, const Counter*> named[] = {
      {"connections", &connections},
      {"connections_rejected", &connections_rejected},
      {"disconnections", &disconnections},
      {"calls", &calls},
      {"calls_dropped", &calls_dropped},
      {"replies", &replies},
      {"rdma_read_bytes", &rdma_read_bytes},
      {"rdma_write_bytes", &rdma_write_bytes},
      {"inline_received_bytes", &inline_received_bytes},
      {"inline_sent_bytes", &inline_sent_bytes},
      {"long_calls", &long_calls},
      {"long_replies", &long_replies},
      {"remote_invalidations", &remote_invalidations},
      {"errors_version", &errors_version},
      {"errors_chunk", &errors_chunk},
      {"errors_option", &errors_option},
      {"garbage_args", &garbage_args},
      {"dropped_short", &dropped_short},
      {"dropped_done", &dropped_done},
      {"dropped_error", &dropped_error},
      {"dropped_reply", &dropped_reply},
      {"credit_overruns", &credit_overruns},
      {"repeated_failures", &repeated_failures},
      {"waits_for_memory", &waits_for_memory},
      {"backward_calls", &backward_calls},
      {"backward_replies", &backward_replies},
      {"results_spoiled", &results_spoiled},
  };
  for (const auto& [name, counter] : named) visitor.visit(name, counter->value());
  for (std::uint32_t number = 0; number < kOperationNumbers; ++number) {
    const auto value = operations[number].value();
    const auto name = nfs4::operation_name(static_cast<nfs4::nfs_opnum4>(number));
    if (value != 0) visitor.visit("op_" + std::string(name), value);
  }
}

}  // namespace nfsrdma::responder
