// Operations in flight, so that a caller can wait for all that began before it.
#pragma once

#include <cstdint>

#include "transport/base/intrusive_list.h"
#include "transport/base/sync/wait_queue.h"
#include "transport/base/task.h"

namespace nfsrdma {

/// Belongs to one shard. Outlives its operations and their waiters.
class InFlightSet {
 public:
  explicit InFlightSet(Reactor& reactor) : ended_one_(reactor) {}
  InFlightSet(const InFlightSet&) = delete;
  InFlightSet& operator=(const InFlightSet&) = delete;

  /// One operation, from its making to its destruction.
  class One : public ListNode {
   public:
    explicit One(InFlightSet& all) : all_(all), number_(++all.begun_) {
      all.list_.push_back(*this);
    }
    One(const One&) = delete;
    One& operator=(const One&) = delete;
    ~One() {
      unlink();
      ++all_.ended_;
      all_.ended_one_.wake_all();
    }

   private:
    friend class InFlightSet;
    InFlightSet& all_;
    const std::uint64_t number_;
  };

  bool any() const { return !list_.empty(); }
  /// How many have ended.
  std::uint64_t ended() const { return ended_; }
  /// Waits for all that are in flight, and for none that begins later.
  Task<void> wait() {
    const std::uint64_t last = begun_;
    while (!list_.empty() && list_.front().number_ <= last) co_await ended_one_.wait();
  }

 private:
  IntrusiveList<One> list_;  ///< oldest first
  WaitQueue ended_one_;
  std::uint64_t begun_ = 0;
  std::uint64_t ended_ = 0;
};

}  // namespace nfsrdma
