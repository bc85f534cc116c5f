// Connections and what goes over them, as bodies of entries.
#pragma once

#include <cstdint>

#include "transport/journal/entry.h"
#include "transport/rpc/channel.h"

namespace nfsrdma::journal {

/// Which call or callback of which connection; both count from 1.
struct Place {
  std::uint32_t connection = 0;
  std::uint32_t number = 0;
};

/// A call as it is given to a connection: its message whole, but only size and hash of the data
/// that goes beside it; and what it offers for its result.
Body call_body(Place place, const rpc::Call& call);
/// How it has ended: the reply with what was placed beside it, or the error.
Body call_done_body(Place place, const rpc::Call& call);
/// `call` has not been answered.
Body callback_body(Place place, rpc::BackwardCall& call);
Body callback_answer_body(Place place, rpc::AcceptStat status, const xdr::Encoder& results);
Body channel_up_body(std::uint32_t connection, const rpc::ChannelLimits& limits);
/// Also when an attempt to connect was refused at once.
Body channel_error_body(std::uint32_t connection, const Error& error);

}  // namespace nfsrdma::journal
