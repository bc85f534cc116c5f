// A mutex for coroutines of one shard: waiting suspends the coroutine, never the thread.
#pragma once

#include <coroutine>
#include <utility>

#include "transport/base/sync/wait_queue.h"

namespace nfsrdma {

/// Hands itself to waiters in their order of arrival, each in a turn of its own (see the README).
/// Not thread safe. Must not be destroyed while held or waited for.
class AsyncMutex {
 public:
  explicit AsyncMutex(Reactor& reactor) : waiters_(reactor) {}

  /// Unlocks when destroyed.
  class Guard {
   public:
    explicit Guard(AsyncMutex* mutex) : mutex_(mutex) {}
    Guard(Guard&& other) noexcept : mutex_(std::exchange(other.mutex_, nullptr)) {}
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;
    Guard& operator=(Guard&&) = delete;
    ~Guard() {
      if (mutex_) mutex_->unlock();
    }

   private:
    AsyncMutex* mutex_;
  };

  class Locking {
   public:
    explicit Locking(AsyncMutex& mutex) : mutex_(mutex), wait_(mutex.waiters_) {}
    bool await_ready() noexcept {
      if (mutex_.held_) return false;
      mutex_.held_ = true;
      return true;
    }
    void await_suspend(std::coroutine_handle<> waiter) { wait_.await_suspend(waiter); }
    Guard await_resume() noexcept { return Guard(&mutex_); }

   private:
    AsyncMutex& mutex_;
    WaitQueue::Wait wait_;
  };

  /// `auto guard = co_await mutex.lock();`
  Locking lock() { return Locking(*this); }
  bool held() const { return held_; }

 private:
  // With a waiter the mutex stays held: it is the waiter's now, though its turn comes later.
  void unlock() {
    if (!waiters_.wake_one()) held_ = false;
  }

  bool held_ = false;
  WaitQueue waiters_;
};

}  // namespace nfsrdma
