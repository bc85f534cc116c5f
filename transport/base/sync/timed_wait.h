// A wait that does not last longer than a given time.
#pragma once

#include <coroutine>

#include "transport/base/sync/wait_queue.h"

namespace nfsrdma {

/// `const bool woken = co_await wait;` false when the time was up first, or cancel() was called.
class TimedWait : public WaitQueue::Wait {
 public:
  static constexpr Duration kUnbounded = Duration::max();

  TimedWait(WaitQueue& queue, Duration longest)
      : Wait(queue), longest_(longest), timer_(queue.reactor_, [this] { cancel(); }) {}
  TimedWait(const TimedWait&) = delete;
  TimedWait& operator=(const TimedWait&) = delete;

  void await_suspend(std::coroutine_handle<> waiter) {
    Wait::await_suspend(waiter);
    if (longest_ != kUnbounded) timer_.arm(longest_);
  }

 private:
  const Duration longest_;
  Timer timer_;
};

}  // namespace nfsrdma
