// The last few of many.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace nfsrdma {

/// A ring of fixed size whose oldest entry makes room for the next. Memory is taken at once and
/// touched when it is first used. Belongs to one thread.
template <class T>
class Recent {
 public:
  explicit Recent(std::size_t capacity) : capacity_(capacity) { entries_.reserve(capacity); }

  void add(const T& entry) {
    if (entries_.size() < capacity_) {
      entries_.push_back(entry);
    } else {
      entries_[added_ % capacity_] = entry;
    }
    ++added_;
  }
  /// How many were ever added.
  std::uint64_t added() const { return added_; }
  /// Visits at most so many of the latest, the oldest of them first.
  template <class Visit>
  void visit(std::size_t most, Visit&& visit) const {
    const std::uint64_t count = std::min<std::uint64_t>(entries_.size(), most);
    for (std::uint64_t i = added_ - count; i < added_; ++i) visit(entries_[i % capacity_]);
  }

 private:
  const std::size_t capacity_;
  std::uint64_t added_ = 0;
  std::vector<T> entries_;
};

}  // namespace nfsrdma
