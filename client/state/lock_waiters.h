// Whoever waits for a lock that somebody else holds. No slot is held meanwhile: a waiter asks again
// when it is told to (CB_NOTIFY_LOCK, RFC 8881 section 20.11; an unlock of this client), and from
// time to time in any case, because such a call is only a hint and may not come.
#pragma once

#include <coroutine>

#include "client/proto/object.h"
#include "transport/base/intrusive_list.h"
#include "transport/base/metrics.h"
#include "transport/base/reactor.h"

namespace nfsrdma::client {

/// Belongs to one shard; outlives every Wait.
class LockWaiters {
 public:
  explicit LockWaiters(Reactor& reactor) : reactor_(reactor) {}

  /// `Wait wait(waiters, handle, longest); co_await wait;` Ends by notify(), by wake(), or after
  /// `longest`.
  class Wait : public ListNode {
   public:
    Wait(LockWaiters& waiters, const FileHandle& file, Duration longest)
        : waiters_(waiters),
          file_(file),
          longest_(longest),
          timer_(waiters.reactor_, [this] { wake(); }) {}
    Wait(const Wait&) = delete;
    Wait& operator=(const Wait&) = delete;

    bool await_ready() const noexcept { return woken_ || waiters_.ended_; }
    void await_suspend(std::coroutine_handle<> waiter) {
      waiter_ = waiter;
      waiters_.waiting_.push_back(*this);
      timer_.arm(longest_);
    }
    void await_resume() const noexcept {}
    /// Ends the wait, from whatever stack; the waiter goes on in a turn of its own. Idempotent.
    void wake() {
      if (woken_) return;
      woken_ = true;
      if (!waiter_) return;
      unlink();
      timer_.cancel();
      waiters_.reactor_.post(waiter_);
    }

   private:
    friend class LockWaiters;
    LockWaiters& waiters_;
    const FileHandle file_;
    const Duration longest_;
    Timer timer_;
    std::coroutine_handle<> waiter_;
    bool woken_ = false;
  };

  /// A lock on the file may have gone.
  void notify(const FileHandle& file) {
    waiting_.for_each([&](Wait& wait) {
      if (wait.file_ != file) return;
      notified_.add();
      wait.wake();
    });
  }
  /// The mount ends: nobody waits any more.
  void end() {
    ended_ = true;
    waiting_.for_each([](Wait& wait) { wait.wake(); });
  }
  bool ended() const { return ended_; }
  void visit_counters(CounterVisitor& visitor) const {
    visitor.visit("lock_waits_notified", notified_.value());
  }

 private:
  Reactor& reactor_;
  IntrusiveList<Wait> waiting_;
  bool ended_ = false;
  Counter notified_;
};

}  // namespace nfsrdma::client
