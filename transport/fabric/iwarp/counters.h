// Counters of one connection.
#pragma once

#include "transport/base/metrics.h"
#include "transport/net/tcp_stream.h"

namespace nfsrdma::fabric::iwarp {

struct Counters : net::StreamCounters {
  Counter fpdus_received;
  Counter fpdus_sent;
  Counter payload_bytes_copied;  ///< of small FPDUs, many of which came with one read
  Counter sends;
  Counter receives;
  Counter writes_posted;
  Counter write_bytes_placed;  ///< by the peer's RDMA Writes, in our memory
  Counter reads_posted;
  Counter read_bytes_placed;  ///< by the peer's RDMA Read Responses, in our memory
  Counter read_requests_received;
  Counter read_bytes_served;  ///< from our memory, to the peer's RDMA Reads
  Counter peer_probes;        ///< RDMA Writes of no bytes, for a peer that does not answer
  Counter leases;
  Counter invalidations_local;
  Counter invalidations_remote;
  Counter terminates_sent;
  Counter terminates_received;
  Counter crc_errors;
  Counter mpa_errors;      ///< framing, including CRC errors
  Counter ddp_errors;      ///< DDP headers, STags and untagged queues
  Counter rdmap_errors;    ///< opcodes, versions, Read Requests, invalidations
  Counter access_errors;   ///< those of the above where the peer used memory it had no right to
  Counter receive_errors;  ///< those of the above where no posted receive fitted

  void visit(CounterVisitor& visitor) const;
};

}  // namespace nfsrdma::fabric::iwarp
