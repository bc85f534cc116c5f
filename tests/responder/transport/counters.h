// Counters of the responder. One writer (the reactor's thread), any reader.
#pragma once

#include <array>

#include "tests/responder/transport/operations.h"
#include "transport/base/metrics.h"
#include "transport/rdma/counters.h"

namespace nfsrdma::responder {

struct Counters {
  Counter connections;           ///< accepted
  Counter connections_rejected;  ///< over the limit
  Counter disconnections;
  Counter calls;          ///< forward calls that reached the RPC layer
  Counter calls_dropped;  ///< by a fault script, the service, or a lost connection
  Counter replies;
  Counter rdma_read_bytes;   ///< pulled from Read chunks
  Counter rdma_write_bytes;  ///< pushed into Write chunks and Reply chunks
  Counter inline_received_bytes;
  Counter inline_sent_bytes;
  Counter long_calls;              ///< RDMA_NOMSG calls
  Counter long_replies;            ///< RDMA_NOMSG replies
  Counter remote_invalidations;    ///< replies sent with Send with Invalidate
  Counter errors_version;          ///< ERR_VERS sent
  Counter errors_chunk;            ///< ERR_CHUNK sent
  Counter errors_option;           ///< RDMA_ERR_INVAL_OPTION sent
  rdma::MessageCounters messages;  ///< by kind; without those of the backward direction
  Counter garbage_args;
  Counter dropped_short;      ///< messages shorter than 28 bytes
  Counter dropped_done;       ///< RDMA_DONE
  Counter dropped_error;      ///< RDMA_ERROR that answers nothing of ours
  Counter dropped_reply;      ///< backward replies that answer nothing of ours
  Counter credit_overruns;    ///< calls beyond the grant (served all the same)
  Counter repeated_failures;  ///< calls refused because their XID broke a connection before
  Counter waits_for_memory;   ///< calls that had to wait for a data buffer
  Counter backward_calls;
  Counter backward_replies;
  Counter results_spoiled;  ///< COMPOUNDs whose results a fault script has changed
  std::array<Counter, kOperationNumbers> operations;

  void visit(CounterVisitor& visitor) const;
};

}  // namespace nfsrdma::responder
