// Waiting before a request is repeated: how long, and how such waits end early.
#pragma once

#include <algorithm>
#include <chrono>
#include <coroutine>
#include <utility>

#include "transport/base/intrusive_list.h"
#include "transport/base/reactor.h"

namespace nfsrdma::client {

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

/// All coroutines of a mount that sleep, so that they can be woken when it ends.
class Pauses {
 public:
  explicit Pauses(Reactor& reactor) : reactor_(reactor) {}

  class Pause : public ListNode {
   public:
    Pause(Pauses& pauses, Duration length)
        : pauses_(pauses), length_(length), timer_(pauses.reactor_, [this] { end(); }) {}
    bool await_ready() const noexcept { return pauses_.interrupted_; }
    void await_suspend(std::coroutine_handle<> waiter) {
      waiter_ = waiter;
      pauses_.sleeping_.push_back(*this);
      timer_.arm(length_);
    }
    /// What was waited for has come: the waiter goes on in a turn of its own. Idempotent.
    void cut_short() {
      if (std::exchange(cut_short_, true) || pauses_.interrupted_) return;
      timer_.cancel();
      unlink();
      pauses_.reactor_.post(waiter_);
    }
    bool was_cut_short() const noexcept { return cut_short_; }
    /// False when the pause has ended for good: the mount is ending.
    bool await_resume() const noexcept { return !pauses_.interrupted_; }

   private:
    friend class Pauses;
    void end() {
      unlink();
      waiter_.resume();
    }

    Pauses& pauses_;
    Duration length_;
    Timer timer_;
    std::coroutine_handle<> waiter_;
    bool cut_short_ = false;
  };
  /// `const bool slept = co_await pauses.pause(length);`
  Pause pause(Duration length) { return Pause(*this, length); }

  /// Ends every pause, now and in future.
  void interrupt() {
    interrupted_ = true;
    while (Pause* pause = sleeping_.pop_front()) {
      pause->timer_.cancel();
      reactor_.post(pause->waiter_);
    }
  }
  bool interrupted() const { return interrupted_; }

 private:
  Reactor& reactor_;
  IntrusiveList<Pause> sleeping_;
  bool interrupted_ = false;
};

}  // namespace nfsrdma::client
