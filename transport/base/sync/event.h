// An event that happens once; waiters may give up after a time.
#pragma once

#include "transport/base/sync/timed_wait.h"

namespace nfsrdma {

/// Belongs to one shard; destroy it only without waiters.
class Event {
 public:
  explicit Event(Reactor& reactor) : waiters_(reactor) {}

  void set() {
    set_ = true;
    waiters_.wake_all();
  }
  bool is_set() const { return set_; }

  class Wait : public TimedWait {
   public:
    Wait(Event& event, Duration longest) : TimedWait(event.waiters_, longest), event_(event) {}
    bool await_ready() const noexcept { return event_.set_; }
    bool await_resume() const noexcept { return event_.set_; }

   private:
    const Event& event_;
  };
  /// `const bool happened = co_await event.wait(patience);` until it is set, or for that long.
  Wait wait(Duration longest = TimedWait::kUnbounded) { return Wait(*this, longest); }

 private:
  WaitQueue waiters_;
  bool set_ = false;
};

}  // namespace nfsrdma
