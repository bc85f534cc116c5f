// Counters, kept from the start. A shard increments plain integers; a reader on another thread sees
// values that are each whole, not a snapshot of one instant.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

namespace nfsrdma {

/// A count that one thread adds to and any thread reads.
class Counter {
 public:
  void add(std::uint64_t amount = 1) {
    value_.store(value_.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
  }
  std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

/// Receives every counter of a component by name; used for dumps, statistics files and tests.
class CounterVisitor {
 public:
  virtual ~CounterVisitor() = default;
  virtual void visit(std::string_view name, std::uint64_t value) = 0;
};

}  // namespace nfsrdma
