#include "transport/fabric/iwarp/counters.h"

namespace nfsrdma::fabric::iwarp {

void Counters::visit(CounterVisitor& visitor) const {
  visitor.visit("read_calls", read_calls.value());
  visitor.visit("write_calls", write_calls.value());
  visitor.visit("bytes_received", bytes_received.value());
  visitor.visit("bytes_sent", bytes_sent.value());
  visitor.visit("fpdus_received", fpdus_received.value());
  visitor.visit("fpdus_sent", fpdus_sent.value());
  visitor.visit("payload_bytes_copied", payload_bytes_copied.value());
  visitor.visit("sends", sends.value());
  visitor.visit("receives", receives.value());
  visitor.visit("writes_posted", writes_posted.value());
  visitor.visit("write_bytes_placed", write_bytes_placed.value());
  visitor.visit("reads_posted", reads_posted.value());
  visitor.visit("read_bytes_placed", read_bytes_placed.value());
  visitor.visit("read_requests_received", read_requests_received.value());
  visitor.visit("read_bytes_served", read_bytes_served.value());
  visitor.visit("peer_probes", peer_probes.value());
  visitor.visit("leases", leases.value());
  visitor.visit("invalidations_local", invalidations_local.value());
  visitor.visit("invalidations_remote", invalidations_remote.value());
  visitor.visit("terminates_sent", terminates_sent.value());
  visitor.visit("terminates_received", terminates_received.value());
  visitor.visit("crc_errors", crc_errors.value());
  visitor.visit("mpa_errors", mpa_errors.value());
  visitor.visit("ddp_errors", ddp_errors.value());
  visitor.visit("rdmap_errors", rdmap_errors.value());
  visitor.visit("access_errors", access_errors.value());
  visitor.visit("receive_errors", receive_errors.value());
}

}  // namespace nfsrdma::fabric::iwarp
