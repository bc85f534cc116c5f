// Counters, kept from the start. A shard increments plain integers; a reader on another thread sees
// values that are each whole, not a snapshot of one instant.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

/// Passes counters on as "<prefix>_<name>": layers count things of the same name.
class PrefixedVisitor final : public CounterVisitor {
 public:
  PrefixedVisitor(std::string_view prefix, CounterVisitor& to) : prefix_(prefix), to_(to) {
    prefix_ += '_';
  }
  void visit(std::string_view name, std::uint64_t value) override {
    to_.visit(prefix_ + std::string(name), value);
  }

 private:
  std::string prefix_;
  CounterVisitor& to_;
};

/// A copy of counters, for when their owner is gone.
class CounterSnapshot final : public CounterVisitor {
 public:
  void visit(std::string_view name, std::uint64_t value) override {
    values_.emplace_back(name, value);
  }
  void clear() { values_.clear(); }
  void replay(CounterVisitor& visitor) const {
    for (const auto& [name, value] : values_) visitor.visit(name, value);
  }

 private:
  std::vector<std::pair<std::string, std::uint64_t>> values_;
};

}  // namespace nfsrdma
