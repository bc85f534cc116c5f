// Counters of every transport, over all connections to one server.
#pragma once

#include "transport/base/log_limit.h"
#include "transport/base/metrics.h"

namespace nfsrdma::rpc {

struct CallCounters {
  Counter connections;     ///< established
  Counter sends;           ///< RPC Calls
  Counter payload_copies;  ///< copies of large payload in user space: stays zero
  Counter xid_lookups;     ///< among the open Calls: one for each message
  Counter pumps;           ///< looks at the queue of Calls
  Counter queue_waits;     ///< Calls that could not be sent when they were submitted
  Counter bad_xids;        ///< replies with the XID of no open call
  Counter failed_calls;    ///< ended by the loss of a connection

  Counter backward_calls;
  Counter backward_overruns;  ///< more callbacks at once than granted, or than there is room for

  /// Bounds the lines about some of them: a faulty server may cause them for ever.
  log::Limit connection_lines;
  log::Limit undecodable_callback_lines;

 protected:
  void visit_calls(CounterVisitor& visitor) const {
    visitor.visit("connections", connections.value());
    visitor.visit("sends", sends.value());
    visitor.visit("payload_copies", payload_copies.value());
    visitor.visit("xid_lookups", xid_lookups.value());
    visitor.visit("pumps", pumps.value());
    visitor.visit("queue_waits", queue_waits.value());
    visitor.visit("bad_xids", bad_xids.value());
    visitor.visit("failed_calls", failed_calls.value());
    visitor.visit("backward_calls", backward_calls.value());
    visitor.visit("backward_overruns", backward_overruns.value());
  }
};

}  // namespace nfsrdma::rpc
