// Coroutines that wait for one condition. The README has the policy.
#pragma once

#include <coroutine>
#include <cstddef>

#include "transport/base/intrusive_list.h"
#include "transport/base/reactor.h"

namespace nfsrdma {

/// `co_await queue.wait();` suspends until it is woken; the waiter looks at its condition before
/// and afterwards. Belongs to one shard; destroy it only without waiters.
class WaitQueue {
 public:
  explicit WaitQueue(Reactor& reactor) : reactor_(reactor) {}

  class Wait : public ListNode {
   public:
    explicit Wait(WaitQueue& queue) : queue_(queue) {}
    bool await_ready() const noexcept { return cancelled_; }
    void await_suspend(std::coroutine_handle<> waiter) {
      waiter_ = waiter;
      origin_ = present_origin();
      queue_.waiters_.push_back(*this);
    }
    /// False when cancel() has ended the wait.
    bool await_resume() const noexcept { return !cancelled_; }
    /// Wakes this one before its turn. No effect on one that does not wait.
    void wake() {
      if (!linked()) return;
      unlink();
      queue_.reactor_.post(waiter_, origin_);
    }
    /// Ends this wait, whether it has begun or not. No effect on one that has been woken.
    void cancel() {
      if (linked() || !waiter_) cancelled_ = true;
      wake();
    }

   private:
    friend class WaitQueue;
    WaitQueue& queue_;
    std::coroutine_handle<> waiter_;
    Origin origin_ = kNoOrigin;
    bool cancelled_ = false;
  };
  Wait wait() { return Wait(*this); }

  /// Wakes the waiter that has waited longest; false without waiters.
  bool wake_one() {
    if (waiters_.empty()) return false;
    waiters_.front().wake();
    return true;
  }
  void wake_all() {
    while (wake_one()) {
    }
  }
  bool empty() const { return waiters_.empty(); }
  std::size_t size() const { return waiters_.size(); }

 protected:
  IntrusiveList<Wait>& waiters() { return waiters_; }

 private:
  friend class TimedWait;
  Reactor& reactor_;
  IntrusiveList<Wait> waiters_;
};

/// A queue whose waits all are `Waiter`s, derived from WaitQueue::Wait: they tell what they wait
/// for, or carry a value from the waker.
template <class Waiter>
class WaitQueueOf : public WaitQueue {
 public:
  using WaitQueue::WaitQueue;
  /// The waiter that has waited longest; null without waiters.
  Waiter* first() { return empty() ? nullptr : static_cast<Waiter*>(&waiters().front()); }
  /// Visits in order; visit may wake the wait that it is given.
  template <class Visit>
  void for_each(Visit&& visit) {
    waiters().for_each([&](Wait& wait) { visit(static_cast<Waiter&>(wait)); });
  }
};

}  // namespace nfsrdma
