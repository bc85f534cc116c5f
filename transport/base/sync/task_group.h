// Background work, counted, so that its end can be awaited.
#pragma once

#include <cstddef>
#include <utility>

#include "transport/base/sync/wait_queue.h"
#include "transport/base/task.h"

namespace nfsrdma {

/// Starts tasks that are not awaited one by one. Destroy it only when it is empty.
class TaskGroup {
 public:
  explicit TaskGroup(Reactor& reactor) : none_left_(reactor) {}

  /// Runs the task up to its first suspension at once. No request waits for it.
  void start(Task<void> task) {
    const OriginScope background(kNoOrigin);
    ++running_;
    spawn(run(this, std::move(task)));
  }

  /// `co_await group.empty();` goes on when every task has ended.
  Task<void> empty() {
    while (running_ > 0) co_await none_left_.wait();
  }

 private:
  static Task<void> run(TaskGroup* group, Task<void> task) {
    co_await task;
    if (--group->running_ == 0) group->none_left_.wake_all();
  }

  std::size_t running_ = 0;
  WaitQueue none_left_;
};

}  // namespace nfsrdma
