// What the TCP transport counts, over all connections to one server.
#pragma once

#include "transport/base/log_limit.h"
#include "transport/base/metrics.h"
#include "transport/net/tcp_stream.h"

namespace nfsrdma::tcp {

/// read_calls and write_calls are system calls that moved bytes or found none to move.
struct Counters : net::StreamCounters {
  Counter connections;  ///< established

  Counter sends;      ///< RPC Calls
  Counter replies;    ///< to open Calls
  Counter records;    ///< received
  Counter fragments;  ///< received

  Counter call_bytes_payload;   ///< arguments sent from where they lie
  Counter reply_bytes_payload;  ///< results received where they were wanted
  Counter reply_bytes_message;  ///< the rest of the replies
  Counter payload_copies;       ///< copies of payload in user space: stays zero
  Counter large_replies;        ///< longer than Options::message_size

  Counter queue_waits;     ///< Calls that could not be sent when they were submitted
  Counter partial_sends;   ///< messages that the kernel did not take whole
  Counter receive_pauses;  ///< reading stopped until memory for a message was free
  Counter bad_xids;        ///< replies with the XID of no open call
  Counter bad_records;     ///< each ends a connection
  Counter failed_calls;    ///< ended by the loss of a connection

  Counter backward_calls;
  Counter backward_overruns;  ///< more at once than this side has room for

  /// Bounds the lines about some of them: a faulty server may cause them for ever.
  log::Limit connection_lines;
  log::Limit bad_record_lines;
  log::Limit undecodable_callback_lines;

  void visit(CounterVisitor& visitor) const;
};

}  // namespace nfsrdma::tcp
