// Runs one coroutine to its end on a reactor that the test drives.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <optional>

#include "transport/base/reactor.h"
#include "transport/base/task.h"

namespace nfsrdma::client::test {

/// Far longer than anything here takes on a busy machine: it turns a hang into a failure.
inline constexpr std::chrono::seconds kHang{60};

template <class T>
Task<void> store(Task<T> task, std::optional<T>* out) {
  auto value = co_await task;
  out->emplace(std::move(value));
}

/// The result of the task. A task that hangs aborts the program: its frame is alive.
template <class T>
T run_task(Reactor& reactor, Task<T> task) {
  std::optional<T> out;
  spawn(store(std::move(task), &out));
  const auto limit = std::chrono::steady_clock::now() + kHang;
  while (!out) {
    reactor.run_once(std::chrono::milliseconds(100));
    if (std::chrono::steady_clock::now() > limit) {
      ADD_FAILURE() << "the task hangs";
      std::abort();
    }
  }
  return std::move(*out);
}

}  // namespace nfsrdma::client::test
