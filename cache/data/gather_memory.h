// Registered memory of writes that were answered before they were sent, bounded for a whole mount.
#pragma once

#include <cstddef>
#include <utility>

#include "transport/base/buffer.h"
#include "transport/base/metrics.h"

namespace nfsrdma::cache {

class GatherMemory;

/// One slot, and its share of the bound, which is given back even if the slot is kept elsewhere.
/// Move-only; the memory must outlive it.
class GatherSlot {
 public:
  GatherSlot() = default;
  GatherSlot(GatherMemory& memory, Buffer buffer);
  GatherSlot(GatherSlot&& other) noexcept
      : memory_(std::exchange(other.memory_, nullptr)), buffer_(std::move(other.buffer_)) {}
  GatherSlot& operator=(GatherSlot&& other) noexcept;
  ~GatherSlot() { reset(); }

  explicit operator bool() const { return memory_ != nullptr; }
  Buffer& buffer() { return buffer_; }
  const Buffer& buffer() const { return buffer_; }
  void reset();

 private:
  GatherMemory* memory_ = nullptr;
  Buffer buffer_;
};

/// One for each mount; belongs to its shard.
class GatherMemory {
 public:
  /// At most `most` slots of the pool, which outlives this. Slots with data that was sent and not
  /// committed count as well: `kept` of them, below.
  GatherMemory(BufferPool& pool, std::size_t most) : pool_(pool), most_(most) {}
  GatherMemory(const GatherMemory&) = delete;
  GatherMemory& operator=(const GatherMemory&) = delete;

  /// Empty when the bound is reached or the pool has nothing left.
  GatherSlot acquire(std::size_t kept = 0);
  /// The same for a slot that a write lies in already. `filled` is left as it is at the bound.
  GatherSlot adopt(Buffer& filled, std::size_t kept = 0);

  /// Slots that are left below the bound.
  std::size_t left(std::size_t kept = 0) const {
    return used_ + kept < most_ ? most_ - used_ - kept : 0;
  }
  std::size_t slots() const { return used_; }
  void visit_counters(CounterVisitor& visitor) const;

 private:
  friend class GatherSlot;

  BufferPool& pool_;
  const std::size_t most_;
  std::size_t used_ = 0;
  Counter refused_;
};

}  // namespace nfsrdma::cache
