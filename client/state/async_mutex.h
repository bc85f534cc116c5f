// A mutex for coroutines of one shard: waiting suspends the coroutine, never the thread.
#pragma once

#include <coroutine>
#include <utility>

#include "transport/base/intrusive_list.h"

namespace nfsrdma::client {

/// Hands itself to waiters in their order of arrival. Not thread safe. Must not be destroyed while
/// held or waited for.
class AsyncMutex {
 public:
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

  class Locking : public ListNode {
   public:
    explicit Locking(AsyncMutex& mutex) : mutex_(mutex) {}
    bool await_ready() noexcept {
      if (mutex_.held_) return false;
      mutex_.held_ = true;
      return true;
    }
    void await_suspend(std::coroutine_handle<> waiter) {
      waiter_ = waiter;
      mutex_.waiters_.push_back(*this);
    }
    Guard await_resume() noexcept { return Guard(&mutex_); }

   private:
    friend class AsyncMutex;
    AsyncMutex& mutex_;
    std::coroutine_handle<> waiter_;
  };

  /// `auto guard = co_await mutex.lock();`
  Locking lock() { return Locking(*this); }
  bool held() const { return held_; }

 private:
  void unlock() {
    if (Locking* next = waiters_.pop_front()) {
      next->waiter_.resume();  // the mutex stays held: it is the next one's now
    } else {
      held_ = false;
    }
  }

  bool held_ = false;
  IntrusiveList<Locking> waiters_;
};

}  // namespace nfsrdma::client
