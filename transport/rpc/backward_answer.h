// What a callback's reply says, the same for every transport.
#pragma once

#include "transport/rpc/message.h"

namespace nfsrdma::rpc {

/// Completes `message`, which holds an accepted SUCCESS reply header and perhaps results: leaves it
/// as it is for SUCCESS, else makes it the reply that says `status`. Results that did not fit, or
/// have a DDP-eligible item (there is none in a callback, RFC 8267 section 6.5.2), are SYSTEM_ERR.
void finish_backward_answer(xdr::Encoder& message, std::uint32_t xid, AcceptStat status);

}  // namespace nfsrdma::rpc
