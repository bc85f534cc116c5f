// Something a coroutine waits for once, or gives up waiting for.
#pragma once

#include <coroutine>
#include <utility>

#include "transport/base/reactor.h"

namespace nfsrdma::fuse {

/// One waiter at a time; belongs to the reactor's thread. Setting it resumes the waiter from the
/// reactor, never from within set().
class Event {
 public:
  explicit Event(Reactor& reactor) : timer_(reactor, [this] { resume(); }) {}

  void set() {
    set_ = true;
    if (waiter_) timer_.arm(Duration::zero());
  }
  bool is_set() const { return set_; }

  /// `co_await event.wait(patience)`: until it is set, or for that long. Then look at is_set().
  auto wait(Duration patience) {
    timer_.arm(patience);
    return Awaiter{*this};
  }
  /// Until it is set.
  auto wait() { return Awaiter{*this}; }

 private:
  struct Awaiter {
    Event& event;
    bool await_ready() const noexcept {
      if (event.set_) event.timer_.cancel();
      return event.set_;
    }
    void await_suspend(std::coroutine_handle<> waiter) { event.waiter_ = waiter; }
    void await_resume() const noexcept {}
  };

  void resume() {
    timer_.cancel();
    if (waiter_) std::exchange(waiter_, {}).resume();
  }

  Timer timer_;
  bool set_ = false;
  std::coroutine_handle<> waiter_;
};

}  // namespace nfsrdma::fuse
