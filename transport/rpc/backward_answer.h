// How a callback begins and what its reply says, the same for every transport.
#pragma once

#include <optional>

#include "transport/rpc/message.h"

namespace nfsrdma::rpc {

/// Decodes the RPC header of a callback, from `arguments` into `header`. Empty: the callback is for
/// its service, and `results` holds an accepted SUCCESS reply header. Else the status to answer at
/// once with; a version mismatch has its whole reply in `results` and is SUCCESS.
std::optional<AcceptStat> begin_backward_call(xdr::Decoder& arguments, CallHeader& header,
                                              xdr::Encoder& results);

/// Completes `message`, which holds an accepted SUCCESS reply header and perhaps results: leaves it
/// as it is for SUCCESS, else makes it the reply that says `status`. Results that did not fit, or
/// have a DDP-eligible item (there is none in a callback, RFC 8267 section 6.5.2), are SYSTEM_ERR.
void finish_backward_answer(xdr::Encoder& message, std::uint32_t xid, AcceptStat status);

}  // namespace nfsrdma::rpc
