// Whether a message may wait for the next one. To send and to be woken is most of what a small
// message costs, on both sides; two in one packet cost it once.
#pragma once

#include <chrono>
#include <cstdint>

#include "transport/base/reactor.h"

namespace nfsrdma::net {

enum class Pace : std::uint8_t {
  prompt,     ///< goes at the end of this turn of the reactor
  unhurried,  ///< nobody waits for the answer: goes with the next message, or after kLongestHold
};

/// Longer, and somebody else would notice: another client waits for what the message gives up. The
/// reactor's timers, of whole milliseconds, may add one.
inline constexpr Duration kLongestHold = std::chrono::milliseconds(1);

}  // namespace nfsrdma::net
