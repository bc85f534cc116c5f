// A queue in a circular array. Elements keep their position, which only grows, so that a cursor
// into the queue stays right while others are pushed and popped. Memory grows by doubling and is
// kept.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace nfsrdma {

template <class T>
class Ring {
 public:
  using Position = std::uint64_t;

  explicit Ring(std::size_t capacity = kFirstCapacity) : slots_(capacity) {
    assert((capacity & (capacity - 1)) == 0);
  }

  Position head() const { return head_; }
  Position tail() const { return tail_; }
  std::size_t size() const { return static_cast<std::size_t>(tail_ - head_); }
  bool empty() const { return head_ == tail_; }

  T& operator[](Position position) {
    assert(position >= head_ && position < tail_);
    return slots_[position & (slots_.size() - 1)];
  }
  T& front() { return (*this)[head_]; }

  void push(T item) {
    if (size() == slots_.size()) grow();
    slots_[tail_ & (slots_.size() - 1)] = std::move(item);
    ++tail_;
  }
  void pop() {
    assert(!empty());
    ++head_;
  }
  void clear() { head_ = tail_; }

 private:
  static constexpr std::size_t kFirstCapacity = 64;

  void grow() {
    std::vector<T> larger(slots_.size() * 2);
    for (Position p = head_; p != tail_; ++p) {
      larger[p & (larger.size() - 1)] = std::move(slots_[p & (slots_.size() - 1)]);
    }
    slots_.swap(larger);
  }

  std::vector<T> slots_;
  Position head_ = 0;
  Position tail_ = 0;
};

}  // namespace nfsrdma
