// Callbacks of a kind, many at once, to a mount.
#pragma once

#include <functional>

#include "tests/hostile/hostile_callbacks.h"
#include "tests/hostile/hostile_mount.h"

namespace nfsrdma::hostile {

/// How a burst ended.
struct Answers {
  int answered = 0;
  int unanswered = 0;
};
/// Sends `count` at once on the latest connection, the first as back.turn. `answers` outlives them.
void send_callbacks(HostileMount& mount, Back back, std::uint32_t count,
                    const std::function<void(xdr::Encoder&, const Back&)>& write, Answers& answers);

}  // namespace nfsrdma::hostile
