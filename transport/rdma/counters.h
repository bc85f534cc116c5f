// Counters of the transport, over all connections to one server.
#pragma once

#include <array>

#include "transport/base/log_limit.h"
#include "transport/base/metrics.h"
#include "transport/rdma/header.h"
#include "transport/rdma/properties.h"
#include "transport/rpc/call_counters.h"

namespace nfsrdma::rdma {

struct MessageCounters {
  /// By rdma_proc; received ones that have a good header of a version this side takes.
  std::array<Counter, kProcs> sent;
  std::array<Counter, kProcs> received;
  /// RDMA_OPTIONAL by opttype; 0 counts those not known.
  std::array<Counter, kOptionTypes> options_sent;
  std::array<Counter, kOptionTypes> options_received;

  /// "sent_msg", "received_connprop", ...
  void visit(CounterVisitor& visitor) const;
};

/// `sends` are the posts that carry a Call.
struct Counters : rpc::CallCounters {
  MessageCounters messages;
  Counter options_refused;  ///< answered RDMA_ERR_INVAL_OPTION or RDMA_ERR_BAD_HEADER
  Counter posts;            ///< calls of Endpoint::post_send: one for each message
  Counter receives;         ///< messages received
  Counter leases;           ///< exposures of memory
  Counter remote_invalidations;
  Counter local_invalidations;

  Counter inline_calls;  ///< RDMA_MSG
  Counter long_calls;    ///< RDMA_NOMSG
  Counter inline_replies;
  Counter long_replies;
  Counter read_chunks;  ///< without Position Zero chunks
  Counter position_zero_chunks;
  Counter write_chunks;
  Counter reply_chunks;

  Counter call_bytes_inline;  ///< bytes of RPC messages, by path
  Counter call_bytes_ddp;
  Counter reply_bytes_inline;
  Counter reply_bytes_ddp;

  Counter grants;            ///< changes of the server's grant
  Counter zero_grants;       ///< grants of 0, a slip of the server (F-7)
  Counter bad_messages;      ///< messages dropped because of their header
  Counter bad_replies;       ///< malformed replies to open Calls: each ends a connection (F-9)
  Counter unplaced_replies;  ///< of these, claims of bytes that were not placed
  Counter error_replies;     ///< RDMA_ERROR that ended a Call

  Counter backward_errors;  ///< answered with RDMA_ERROR

  /// Bounds the lines about some of them: a faulty server may cause them for ever.
  log::Limit version_lines;
  log::Limit bad_reply_lines;
  log::Limit zero_grant_lines;
  log::Limit backward_overrun_lines;
  log::Limit done_lines;

  void visit(CounterVisitor& visitor) const;
};

}  // namespace nfsrdma::rdma
