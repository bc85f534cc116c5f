// What a connection has shown of its peer that the next one to the same peer has to know.
#pragma once

#include "transport/base/log_limit.h"

namespace nfsrdma::fabric::iwarp {

struct PeerQuirks {
  /// Linux siw takes a CRC that TCP delivers in two pieces for wrong (it puts the second where the
  /// first belongs), and ends the connection: now and then on any path that cuts the stream where
  /// it likes. That it is siw shows in its Terminate message.
  bool misjudges_crc = false;
  /// What is said about violations: the peer may commit one with each connection.
  log::Limit violation_lines;
};

}  // namespace nfsrdma::fabric::iwarp
