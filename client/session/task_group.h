// Background work of a mount, counted, so that its end can be awaited.
#pragma once

#include <coroutine>

#include "transport/base/intrusive_list.h"
#include "transport/base/reactor.h"
#include "transport/base/task.h"

namespace nfsrdma::client {

/// Starts tasks that nobody awaits one by one. Destroy it only when it is empty.
class TaskGroup {
 public:
  explicit TaskGroup(Reactor& reactor) : reactor_(reactor) {}

  /// Runs the task up to its first suspension at once.
  void start(Task<void> task) {
    ++running_;
    spawn(run(this, std::move(task)));
  }

  class Empty : public ListNode {
   public:
    explicit Empty(TaskGroup& group) : group_(group) {}
    bool await_ready() const noexcept { return group_.running_ == 0; }
    void await_suspend(std::coroutine_handle<> waiter) {
      waiter_ = waiter;
      group_.waiters_.push_back(*this);
    }
    void await_resume() const noexcept {}

   private:
    friend class TaskGroup;
    TaskGroup& group_;
    std::coroutine_handle<> waiter_;
  };
  /// `co_await group.empty();` goes on when every task has ended.
  Empty empty() { return Empty(*this); }

 private:
  static Task<void> run(TaskGroup* group, Task<void> task) {
    co_await task;
    if (--group->running_ > 0) co_return;
    while (Empty* waiter = group->waiters_.pop_front()) group->reactor_.post(waiter->waiter_);
  }

  Reactor& reactor_;
  std::size_t running_ = 0;
  IntrusiveList<Empty> waiters_;
};

}  // namespace nfsrdma::client
