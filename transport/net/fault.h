// Why connections end.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "transport/base/error.h"

namespace nfsrdma::net {

/// Error::code values of Layer::fabric.
enum class Fault : int {
  none,
  closed,             ///< the peer closed the connection
  reset,              ///< the connection broke
  rejected,           ///< the peer rejected the connection request
  refused,            ///< nothing listens there
  timed_out,          ///< no answer to the connection request
  protocol,           ///< the peer broke the provider's protocol (MPA, DDP, RDMAP, CRC)
  remote_access,      ///< the peer used memory it had no right to
  remote_terminate,   ///< the peer said that we broke the protocol
  receive_too_small,  ///< a message larger than the posted receive, or none was posted
  local_close,        ///< closed by this side
  resources,          ///< a local limit (memory, queue depth, descriptors)
  callback,           ///< callbacks of the peer that this side cannot take; no call caused them
};
std::string_view fault_name(int fault);
/// The error of a call whose connection ended for `reason`: always of Layer::fabric, whichever side
/// ended it.
Error as_loss(const Error& reason);
/// Whether a message can be the cause of such an end, so that sending it again may cause another.
bool message_can_cause(const Error& reason);
/// The peer made callbacks that this side has no room for, and the connection ends for it.
inline Error callback_error(std::string what) {
  return Error{Layer::fabric, static_cast<int>(Fault::callback), "callback", std::move(what)};
}
/// The peer broke the protocol, and the connection ends for it.
inline Error protocol_error(const char* step, std::string what) {
  return Error{Layer::fabric, static_cast<int>(Fault::protocol), step, std::move(what)};
}

}  // namespace nfsrdma::net
