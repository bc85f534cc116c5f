// Quirks of a peer that one connection has shown and the next one to the same peer must know.
#pragma once

#include "transport/base/log_limit.h"

namespace nfsrdma::fabric::iwarp {

struct PeerQuirks {
  /// Linux siw refuses a CRC that TCP delivers in two pieces (it puts the second where the first
  /// belongs), and ends the connection. That happens now and then on any path that cuts the stream
  /// at arbitrary places. The Terminate message shows that the peer is siw.
  bool misjudges_crc = false;
  /// Bounds the log lines about violations: the peer may commit one with each connection.
  log::Limit violation_lines;
};

}  // namespace nfsrdma::fabric::iwarp
