// Calls to clients over a session's back channel (RFC 8881 section 20).
#pragma once

#include "tests/responder/nfs/session/session.h"

namespace nfsrdma::responder {

/// Sends one operation behind CB_SEQUENCE on slot 0; while that is busy, in turn. Ends with an
/// error at once when there is no path to the client.
void call_client(Session& session, Callback callback);

/// Tells the client of a session its new target for slots (CB_RECALL_SLOT).
void recall_slots(Session& session);

}  // namespace nfsrdma::responder
