// Many tasks of one kind at once, and what became of them.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <list>
#include <utility>

#include "tests/client/fake_mount.h"

namespace nfsrdma::client::test {

/// Tasks that give a Result<T>. Every one has ended when this goes.
template <class T>
class Crowd {
 public:
  void add(Task<Result<T>> task) { tasks_.emplace_back(std::move(task)); }
  std::size_t done() const {
    std::size_t count = 0;
    for (const auto& task : tasks_) count += task.done() ? 1 : 0;
    return count;
  }
  std::size_t size() const { return tasks_.size(); }
  /// All have ended, and ended well.
  void expect_success() {
    for (auto& task : tasks_) {
      ASSERT_TRUE(task.done()) << "a task hangs";
      EXPECT_TRUE(task.value()) << task.value().error().message();
    }
  }
  std::list<Pending<Result<T>>>& tasks() { return tasks_; }

 private:
  std::list<Pending<Result<T>>> tasks_;
};

}  // namespace nfsrdma::client::test
