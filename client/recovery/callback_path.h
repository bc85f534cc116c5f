// Chooses the remedy when the server says that its callbacks do not reach us
// (SEQ4_STATUS_CB_PATH_DOWN and relatives). The number of remedies is bounded.
#pragma once

#include <cstdint>
#include <optional>

#include "transport/base/reactor.h"

namespace nfsrdma::client {

/// Binding the connection helps in most cases, a new connection in some, a new session in the rest.
/// Each step is given time to show its effect; when none has helped, only the log tells.
class CallbackPath {
 public:
  enum class Step : std::uint8_t { nothing, bind, connection, session, give_up };

  /// At most three binds a minute.
  static constexpr Duration kPatience = std::chrono::seconds(20);
  static constexpr int kBinds = 3;

  /// A SEQUENCE has told whether the path is down: returns the next step. A path that comes and
  /// goes is given the same time.
  Step note(bool down, TimePoint now) {
    if (!down) {
      tried_ = 0;
      return Step::nothing;
    }
    if (last_ && now - *last_ < kPatience) return Step::nothing;
    last_ = now;
    if (tried_ > kBinds + 2) return Step::nothing;
    ++tried_;
    if (tried_ <= kBinds) return Step::bind;
    if (tried_ == kBinds + 1) return Step::connection;
    return tried_ == kBinds + 2 ? Step::session : Step::give_up;
  }

 private:
  int tried_ = 0;
  std::optional<TimePoint> last_;
};

}  // namespace nfsrdma::client
