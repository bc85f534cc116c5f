// Waiting before something is repeated: how long, and how such waits end early.
#pragma once

#include <algorithm>
#include <chrono>
#include <utility>

#include "transport/base/sync/timed_wait.h"

namespace nfsrdma {

/// The pauses between repetitions of one operation: 0.1 s, doubling, 15 s at most.
class Backoff {
 public:
  static constexpr Duration kFirst = std::chrono::milliseconds(100);
  static constexpr Duration kLongest = std::chrono::seconds(15);

  Duration next() {
    const Duration pause = pause_;
    pause_ = std::min(2 * pause_, kLongest);
    return pause;
  }

 private:
  Duration pause_ = kFirst;
};

/// All coroutines of one owner that sleep, so that they can be woken when it ends.
class Pauses {
 public:
  explicit Pauses(Reactor& reactor) : sleeping_(reactor) {}

  class Pause : public TimedWait {
   public:
    Pause(Pauses& pauses, Duration length) : TimedWait(pauses.sleeping_, length), pauses_(pauses) {}
    bool await_ready() const noexcept { return cut_short_ || pauses_.interrupted_; }
    /// The awaited event has come: ends the pause. Idempotent.
    void cut_short() {
      cut_short_ = true;
      wake();
    }
    bool was_cut_short() const noexcept { return cut_short_; }
    /// False when the pause has ended for good: its owner is ending.
    bool await_resume() const noexcept { return !pauses_.interrupted_; }

   private:
    const Pauses& pauses_;
    bool cut_short_ = false;
  };
  /// `const bool slept = co_await pauses.pause(length);`
  Pause pause(Duration length) { return Pause(*this, length); }

  /// Ends every pause, now and in future.
  void interrupt() {
    interrupted_ = true;
    sleeping_.wake_all();
  }
  bool interrupted() const { return interrupted_; }

 private:
  WaitQueue sleeping_;
  bool interrupted_ = false;
};

}  // namespace nfsrdma
