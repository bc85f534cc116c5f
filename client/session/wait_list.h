// Coroutines that wait for one condition.
#pragma once

#include <coroutine>

#include "transport/base/intrusive_list.h"
#include "transport/base/reactor.h"

namespace nfsrdma::client {

/// `co_await list.wait();` suspends until the next wake_all(); who waits looks at its condition
/// before and afterwards. Belongs to one shard; destroy it only when nobody waits.
class WaitList {
 public:
  explicit WaitList(Reactor& reactor) : reactor_(reactor) {}

  class Wait : public ListNode {
   public:
    explicit Wait(WaitList& list) : list_(list) {}
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> waiter) {
      waiter_ = waiter;
      list_.waiters_.push_back(*this);
    }
    void await_resume() const noexcept {}

   private:
    friend class WaitList;
    WaitList& list_;
    std::coroutine_handle<> waiter_;
  };
  Wait wait() { return Wait(*this); }

  void wake_all() {
    while (Wait* waiter = waiters_.pop_front()) reactor_.post(waiter->waiter_);
  }

 private:
  Reactor& reactor_;
  IntrusiveList<Wait> waiters_;
};

}  // namespace nfsrdma::client
