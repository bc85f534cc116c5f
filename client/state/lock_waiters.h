// Callers that wait for a lock of another owner. No slot is held meanwhile: a waiter asks again
// when it is told to (CB_NOTIFY_LOCK, RFC 8881 section 20.11; an unlock of this client), and from
// time to time in any case, because such a call is only a hint and may not come.
#pragma once

#include "client/proto/object.h"
#include "transport/base/metrics.h"
#include "transport/base/sync/timed_wait.h"

namespace nfsrdma::client {

/// Belongs to one shard; outlives every Wait.
class LockWaiters {
 public:
  explicit LockWaiters(Reactor& reactor) : waiting_(reactor) {}

  /// `Wait wait(waiters, handle, longest); co_await wait;` Ends by notify(), by cancel(), or after
  /// `longest`.
  class Wait : public TimedWait {
   public:
    Wait(LockWaiters& waiters, const FileHandle& file, Duration longest)
        : TimedWait(waiters.waiting_, longest), waiters_(waiters), file_(file) {}
    bool await_ready() const noexcept { return waiters_.ended_ || TimedWait::await_ready(); }

   private:
    friend class LockWaiters;
    const LockWaiters& waiters_;
    const FileHandle file_;
  };

  /// A lock on the file may have gone.
  void notify(const FileHandle& file) {
    waiting_.for_each([&](Wait& wait) {
      if (wait.file_ != file) return;
      notified_.add();
      wait.wake();
    });
  }
  /// The mount ends: wakes all waiters; none waits any more.
  void end() {
    ended_ = true;
    waiting_.wake_all();
  }
  bool ended() const { return ended_; }
  void visit_counters(CounterVisitor& visitor) const {
    visitor.visit("lock_waits_notified", notified_.value());
  }

 private:
  WaitQueueOf<Wait> waiting_;
  bool ended_ = false;
  Counter notified_;
};

}  // namespace nfsrdma::client
