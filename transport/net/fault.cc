#include "transport/net/fault.h"

#include <array>

namespace nfsrdma::net {

std::string_view fault_name(int fault) {
  static constexpr std::array<std::string_view, 13> names = {
      "no fault",
      "closed by the peer",
      "connection reset",
      "the peer rejected the connection",
      "connection refused: nothing listens there",
      "no answer in time",
      "the peer broke the protocol",
      "the peer used memory it had no right to",
      "the peer terminated the stream",
      "a message did not fit the posted receive",
      "closed by this side",
      "out of a local resource",
      "callbacks that this side has no room for"};
  const auto index = static_cast<std::size_t>(fault);
  return index < names.size() ? names[index] : "unknown fault";
}

Error as_loss(const Error& reason) {
  if (reason.layer == Layer::fabric) return reason;
  return Error{Layer::fabric, static_cast<int>(Fault::local_close), "connection", reason.message()};
}

bool message_can_cause(const Error& reason) {
  if (reason.layer != Layer::fabric) return false;
  switch (static_cast<Fault>(reason.code)) {
    case Fault::protocol:
    case Fault::remote_access:
    case Fault::remote_terminate:
    case Fault::receive_too_small: return true;
    default: return false;
  }
}

}  // namespace nfsrdma::net
