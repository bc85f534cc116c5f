// Calls to clients over a session's back channel (RFC 8881 section 20).
#pragma once

#include "tests/responder/nfs/session/session.h"

namespace nfsrdma::responder {

/// Tells the client of a session its new target for slots (CB_RECALL_SLOT). Does nothing when there
/// is no path to the client or its one callback slot is busy.
void recall_slots(Session& session);

}  // namespace nfsrdma::responder
