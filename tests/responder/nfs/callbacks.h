// Calls to clients over a session's back channel (RFC 8881 section 20).
#pragma once

#include "tests/hostile/hostile_callbacks.h"
#include "tests/responder/nfs/session/session.h"

namespace nfsrdma::responder {

/// Sends one operation behind CB_SEQUENCE on slot 0; while that is busy, in turn. Ends with an
/// error at once when there is no path to the client.
void call_client(Session& session, Callback callback);

/// Sends `count` callbacks at once that break the rules (tests/hostile/hostile_callbacks.h), `cut`
/// to so many bytes. Returns how many went out.
std::size_t send_hostile(Session& session, hostile::EncodeBack encode, std::uint32_t count,
                         std::size_t cut);

/// Tells the client of a session its new target for slots (CB_RECALL_SLOT).
void recall_slots(Session& session);

}  // namespace nfsrdma::responder
