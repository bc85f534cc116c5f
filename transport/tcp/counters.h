// Counters of the TCP transport, over all connections to one server.
#pragma once

#include "transport/base/log_limit.h"
#include "transport/base/metrics.h"
#include "transport/net/tcp_stream.h"
#include "transport/rpc/call_counters.h"

namespace nfsrdma::tcp {

/// read_calls and write_calls are system calls that moved bytes or found none to move.
struct Counters : net::StreamCounters, rpc::CallCounters {
  Counter replies;    ///< to open Calls
  Counter records;    ///< received
  Counter fragments;  ///< received

  Counter call_bytes_payload;    ///< arguments sent from where they lie
  Counter reply_bytes_payload;   ///< results received where they were wanted
  Counter reply_bytes_message;   ///< the rest of the replies
  Counter payload_bytes_copied;  ///< of those: into small sinks, after one read for all
  Counter large_replies;         ///< longer than Options::message_size

  Counter partial_sends;   ///< messages that the kernel did not take whole
  Counter receive_pauses;  ///< reading stopped until memory for a message was free
  Counter bad_records;     ///< each ends a connection

  /// Bounds the lines about some of them: a faulty server may cause them for ever.
  log::Limit bad_record_lines;

  void visit(CounterVisitor& visitor) const;
};

}  // namespace nfsrdma::tcp
