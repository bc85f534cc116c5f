// The event loop of a shard: descriptors, timers and deferred work, all on one thread.
//
// EpollReactor waits for real descriptors and real time. VirtualReactor has no descriptors and a
// clock that jumps to the next timer, so that tests run leases of 90 s in microseconds.
#pragma once

#include <chrono>
#include <coroutine>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "transport/base/intrusive_list.h"
#include "transport/base/origin.h"
#include "transport/base/result.h"

namespace nfsrdma {

using Duration = std::chrono::nanoseconds;
/// Time since an arbitrary start; monotonic.
using TimePoint = std::chrono::nanoseconds;

/// Receives readiness of a watched descriptor. Called on the reactor's thread.
class FdHandler {
 public:
  virtual ~FdHandler() = default;
  /// events: EPOLLIN, EPOLLOUT, EPOLLERR, EPOLLHUP as epoll(7) reports them.
  virtual void on_ready(std::uint32_t events) = 0;
};

class Deferred;
class Timer;

/// One thread's event loop. Every method but wake_from_other_thread must be called on the thread
/// that runs it (or before it runs).
class Reactor {
 public:
  virtual ~Reactor() = default;

  virtual TimePoint now() const = 0;
  /// How long this machine has been suspended since an arbitrary start. now() and timers leave
  /// that out; a lease that runs at a server does not.
  virtual Duration suspended() { return Duration::zero(); }

  /// Level-triggered interest in a descriptor. The handler must outlive the watch.
  virtual Result<void> watch(int fd, std::uint32_t events, FdHandler& handler) = 0;
  virtual Result<void> modify(int fd, std::uint32_t events, FdHandler& handler) = 0;
  virtual void unwatch(int fd) = 0;

  /// Runs work after the current event was handled, in order.
  void post(std::function<void()> work);
  /// Resumes a coroutine after the current event was handled; it goes on for that request.
  void post(std::coroutine_handle<> coroutine, Origin origin = kNoOrigin);

  /// Destroys an object once no frame of it can be on the stack.
  template <class T>
  void dispose(std::unique_ptr<T> object) {
    std::shared_ptr<T> shared(std::move(object));
    post([shared]() mutable { shared.reset(); });
  }

  /// Handles events until stop() is called.
  void run();
  /// Handles what is ready; waits at most `longest` for the first event. Returns whether any work
  /// was done.
  bool run_once(Duration longest);
  void stop() { stopped_ = true; }
  bool stopped() const { return stopped_; }
  /// Timers that are running.
  std::size_t timers_armed() const { return timers_.size(); }

  /// Runs work on the reactor's thread soon. The one call that is safe from other threads.
  virtual void wake_from_other_thread(std::function<void()> work) = 0;
  /// A call that another thread makes once, or never, to have `work` run on this one.
  virtual std::function<void()> waking_call(std::function<void()> work) {
    return [this, work = std::move(work)]() mutable { wake_from_other_thread(std::move(work)); };
  }

  // Random numbers, /proc and the like differ from run to run. Code that looks at them
  // reports here what it has seen, so that a run can be recorded and rerun
  // (transport/journal).

  /// `memory` holds `size` bytes that were seen of `what`, a string literal. Returns how many it
  /// holds afterwards: a rerun replaces them by those of the recorded run.
  virtual std::size_t from_outside([[maybe_unused]] const char* what,
                                   [[maybe_unused]] std::span<std::byte> memory, std::size_t size) {
    return size;
  }
  /// The same of one value.
  template <class Value>
  requires std::is_trivially_copyable_v<Value> Value seen(const char* what, Value value) {
    from_outside(what, std::as_writable_bytes(std::span(&value, 1)), sizeof value);
    return value;
  }
  /// The same of a text, of which kLongestText bytes count.
  std::string seen(const char* what, std::string text);
  static constexpr std::size_t kLongestText = 4096;

 protected:
  /// Waits for descriptors or until `longest` has passed (negative: no bound) and calls handlers.
  virtual bool wait(Duration longest) = 0;

  /// Something is posted or deferred.
  bool has_work() const { return !posted_.empty() || !deferred_.empty(); }
  /// How long until the next timer is due; `longest` at most.
  Duration until_next_timer(Duration longest) const;

 private:
  friend class Deferred;
  friend class Timer;
  using TimerQueue = std::multimap<TimePoint, Timer*>;

  bool run_posted();
  bool run_deferred();
  bool run_due_timers();

  TimerQueue timers_;
  std::vector<std::function<void()>> posted_;
  std::vector<std::function<void()>> running_;  // the batch being run; kept for its memory
  IntrusiveList<Deferred> deferred_;
  bool stopped_ = false;
};

/// A one-shot timer. Its user owns it; destroying it cancels it.
class Timer {
 public:
  Timer(Reactor& reactor, std::function<void()> on_fire)
      : reactor_(reactor), on_fire_(std::move(on_fire)) {}
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  ~Timer() { cancel(); }

  /// (Re)starts the timer `after` from now.
  void arm(Duration after);
  void cancel();
  bool armed() const { return armed_; }

 private:
  friend class Reactor;
  Reactor& reactor_;
  std::function<void()> on_fire_;
  Reactor::TimerQueue::iterator place_{};
  bool armed_ = false;
};

/// Work that an object wants done once after the current event, owned by that object: destroying it
/// cancels it, and scheduling it allocates nothing.
class Deferred : public ListNode {
 public:
  Deferred(Reactor& reactor, std::function<void()> work)
      : reactor_(reactor), work_(std::move(work)) {}
  /// No effect when it is scheduled already.
  void schedule() {
    if (!linked()) reactor_.deferred_.push_back(*this);
  }
  void cancel() { unlink(); }
  bool scheduled() const { return linked(); }

 private:
  friend class Reactor;
  Reactor& reactor_;
  std::function<void()> work_;
};

/// Awaitable pause: `co_await Sleep(reactor, 100ms);`
class Sleep {
 public:
  Sleep(Reactor& reactor, Duration after) : after_(after), timer_(reactor, [this] { resume(); }) {}
  bool await_ready() const noexcept { return after_ <= Duration::zero(); }
  void await_suspend(std::coroutine_handle<> waiter) {
    waiter_ = waiter;
    origin_ = present_origin();
    timer_.arm(after_);
  }
  void await_resume() const noexcept {}

 private:
  void resume() {
    const OriginScope scope(origin_);
    waiter_.resume();
  }

  Duration after_;
  Origin origin_ = kNoOrigin;
  std::coroutine_handle<> waiter_;
  Timer timer_;
};

/// The production loop: epoll(7), CLOCK_MONOTONIC, an eventfd for other threads.
std::unique_ptr<Reactor> make_epoll_reactor();

}  // namespace nfsrdma
