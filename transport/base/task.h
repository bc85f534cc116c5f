// Task<T>: an eager coroutine. The child runs inside await_ready, so a child that finishes without
// suspending never grows the stack; only a child that suspended resumes its parent by transfer.
//
// House rule for g++ 12: every co_await is a statement of its own (`auto r = co_await f(x);`),
// arguments with destructors are named before the call, coroutine lambdas capture nothing.
//
// A Task belongs to the thread that runs its reactor. A coroutine takes its parameters by value, or
// by reference to something that outlives it.
#pragma once

#include <coroutine>
#include <cstdlib>
#include <optional>
#include <type_traits>
#include <utility>

#include "transport/base/frame_pool.h"

namespace nfsrdma {

template <class T>
class Task;

namespace detail {

struct TaskPromiseBase {
  std::coroutine_handle<> continuation;

  struct Final {
    bool await_ready() noexcept { return false; }
    template <class P>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<P> self) noexcept {
      auto next = self.promise().continuation;
      return next ? next : std::noop_coroutine();
    }
    void await_resume() noexcept {}
  };

  std::suspend_always initial_suspend() noexcept { return {}; }
  Final final_suspend() noexcept { return {}; }
  [[noreturn]] void unhandled_exception() noexcept { std::abort(); }

  // Frames come from a per-thread pool: protocol steps allocate nothing once warm.
  static void* operator new(std::size_t size) { return FramePool::allocate(size); }
  static void operator delete(void* frame, std::size_t size) { FramePool::release(frame, size); }
};

template <class T>
struct TaskPromise : TaskPromiseBase {
  std::optional<T> value;
  Task<T> get_return_object();
  template <class U>
  void return_value(U&& result) {
    value.emplace(std::forward<U>(result));
  }
};

template <>
struct TaskPromise<void> : TaskPromiseBase {
  Task<void> get_return_object();
  void return_void() noexcept {}
};

}  // namespace detail

/// The result of a coroutine, started when it is awaited. Await it exactly once.
template <class T>
class [[nodiscard]] Task {
 public:
  using promise_type = detail::TaskPromise<T>;
  using Handle = std::coroutine_handle<promise_type>;

  explicit Task(Handle handle) : handle_(handle) {}
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  Task& operator=(Task&&) = delete;
  ~Task() {
    if (handle_) handle_.destroy();
  }

  bool await_ready() {
    handle_.resume();
    return handle_.done();
  }
  void await_suspend(std::coroutine_handle<> parent) noexcept {
    handle_.promise().continuation = parent;
  }
  T await_resume() {
    if constexpr (!std::is_void_v<T>) return std::move(*handle_.promise().value);
  }

 private:
  Handle handle_;
};

namespace detail {

template <class T>
Task<T> TaskPromise<T>::get_return_object() {
  return Task<T>(std::coroutine_handle<TaskPromise<T>>::from_promise(*this));
}
inline Task<void> TaskPromise<void>::get_return_object() {
  return Task<void>(std::coroutine_handle<TaskPromise<void>>::from_promise(*this));
}

/// A coroutine that no other awaits; it frees itself when it ends.
struct Detached {
  struct promise_type {
    Detached get_return_object() noexcept { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    [[noreturn]] void unhandled_exception() noexcept { std::abort(); }
    static void* operator new(std::size_t size) { return FramePool::allocate(size); }
    static void operator delete(void* frame, std::size_t size) { FramePool::release(frame, size); }
  };
};

inline Detached run_detached(Task<void> task) { co_await task; }

}  // namespace detail

/// Starts a task at once on the calling thread and lets it run to its end unobserved.
inline void spawn(Task<void> task) { detail::run_detached(std::move(task)); }

}  // namespace nfsrdma
