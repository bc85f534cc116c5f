// Callers that wait for a lock of another owner. No slot is held meanwhile: a waiter asks again
// when it is told to (CB_NOTIFY_LOCK, RFC 8881 section 20.11; an unlock of this client), and from
// time to time in any case, because such a call is only a hint and may not come.
#pragma once

#include <vector>

#include "client/proto/object.h"
#include "client/requests/lock_owner.h"
#include "transport/base/intrusive_list.h"
#include "transport/base/metrics.h"
#include "transport/base/sync/timed_wait.h"

namespace nfsrdma::client {

/// Belongs to one shard; outlives every Turn and Wait.
///
/// After an unlock of this client not every waiter of the file asks again: of many that want the
/// same, one would get the lock, and the others would ask the server for nothing. They stand in the
/// order in which they were first refused, and those ask that stand in the way of each other with
/// none before them. One that is refused nevertheless (another client has the lock, or a caller
/// that did not wait was faster), or gives up, passes the turn on.
class LockWaiters {
 public:
  class Wait;

  /// The place of one waiting caller among those of its file, from its first refusal on until it
  /// has the lock or gives up.
  class Turn : public ListNode {
   public:
    /// The request was refused. `holds`: the owner has other locks on the file, so that what the
    /// server says to others is not what it says to this one.
    Turn(LockWaiters& waiters, const FileHandle& file, LockOwner owner, ByteRange range,
         bool exclusive, bool holds);
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    /// Gives up, unless granted() was called.
    ~Turn();

    /// The caller asks the server, woken or not.
    void asks() { asking_ = true; }
    /// It was refused again.
    void refused(bool holds);
    /// It has the lock.
    void granted();

   private:
    friend class LockWaiters;
    bool conflicts(const Turn& other) const;
    bool is_refused_with(const Turn& other) const;

    LockWaiters& waiters_;
    const FileHandle file_;
    const LockOwner owner_;
    const ByteRange range_;
    const bool exclusive_;
    bool holds_;
    Wait* wait_ = nullptr;
    bool asking_ = false;  ///< its request is on its way, or about to be
    bool again_ = false;   ///< something was unlocked meanwhile
    bool refused_ = true;  ///< nothing was unlocked since that it may have waited for
    bool granted_ = false;
  };

  explicit LockWaiters(Reactor& reactor) : waiting_(reactor) {}

  /// `Wait wait(turn, longest); co_await wait;` Ends when it is the turn's time to ask, by
  /// notify(), by cancel(), or after `longest`.
  class Wait : public TimedWait {
   public:
    Wait(Turn& turn, Duration longest) : TimedWait(turn.waiters_.waiting_, longest), turn_(turn) {
      turn.wait_ = this;
    }
    ~Wait() { turn_.wait_ = nullptr; }
    bool await_ready() const noexcept {
      return turn_.waiters_.ended_ || turn_.asking_ || TimedWait::await_ready();
    }

   private:
    Turn& turn_;
  };

  /// A lock on the file may have gone, of another client or by a change of what keeps locks: all
  /// ask.
  void notify(const FileHandle& file);
  /// This client has unlocked the range.
  void unlocked(const FileHandle& file, ByteRange range);
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
  /// Has those ask whose time it is.
  void next_ask(const FileHandle& file);
  void wake(Turn& turn);

  WaitQueueOf<Wait> waiting_;
  IntrusiveList<Turn> turns_;  ///< in the order of their first refusals
  bool ended_ = false;
  Counter notified_;
};

}  // namespace nfsrdma::client
