// Executes one COMPOUND (RFC 8881 section 16.2).
#pragma once

#include "tests/responder/nfs/server_state.h"
#include "tests/responder/service.h"

namespace nfsrdma::responder {

/// The outcome of a COMPOUND whose results have been encoded.
struct CompoundOutcome {
  rpc::AcceptStat accept = rpc::AcceptStat::success;
  Duration delay{};    ///< hold the reply back for this long
  SessionRef session;  ///< of the slot that waits for the answer; null when there is none
  nfs4::slotid4 slot = 0;
};

CompoundOutcome execute_compound(ServerState& server, ServerCall& call);

}  // namespace nfsrdma::responder
