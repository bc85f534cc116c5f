// Coroutines that wait for one condition. The README has the policy.
#pragma once

#include <coroutine>
#include <utility>

#include "transport/base/intrusive_list.h"
#include "transport/base/reactor.h"

namespace nfsrdma {

/// `co_await queue.wait();` suspends until it is woken; who waits looks at its condition before and
/// afterwards. Belongs to one shard; destroy it only when nobody waits.
class WaitQueue {
 public:
  explicit WaitQueue(Reactor& reactor) : reactor_(reactor) {}

  class Wait : public ListNode {
   public:
    explicit Wait(WaitQueue& queue) : queue_(queue) {}
    bool await_ready() const noexcept { return cancelled_; }
    void await_suspend(std::coroutine_handle<> waiter) {
      waiter_ = waiter;
      queue_.waiters_.push_back(*this);
    }
    /// False when cancel() has ended the wait.
    bool await_resume() const noexcept { return !cancelled_; }
    /// Ends this wait, whether it has begun or not. No effect on one that has been woken.
    void cancel() {
      if (!linked()) {
        cancelled_ = cancelled_ || !waiter_;
        return;
      }
      cancelled_ = true;
      unlink();
      queue_.reactor_.post(waiter_);
    }

   private:
    friend class WaitQueue;
    WaitQueue& queue_;
    std::coroutine_handle<> waiter_;
    bool cancelled_ = false;
  };
  Wait wait() { return Wait(*this); }

  /// Wakes who has waited longest; false when nobody waits.
  bool wake_one() {
    Wait* const waiter = waiters_.pop_front();
    if (waiter) reactor_.post(waiter->waiter_);
    return waiter != nullptr;
  }
  void wake_all() {
    while (wake_one()) {
    }
  }
  bool empty() const { return waiters_.empty(); }

 private:
  Reactor& reactor_;
  IntrusiveList<Wait> waiters_;
};

}  // namespace nfsrdma
