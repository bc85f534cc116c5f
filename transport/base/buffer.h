// Memory that the network may touch: fixed-size slots of one mapping, so that a provider can
// register the whole pool once and name any slot in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "transport/base/intrusive_list.h"
#include "transport/base/result.h"

namespace nfsrdma {

class BufferPool;

/// Stands in a pool's queue until a slot comes back. One waiter is told, and leaves the queue, per
/// slot. It is called from within the release, so it may only take note (Reactor::post), and when
/// its turn comes the slot may be gone again: acquire, and wait once more if that fails.
class BufferWaiter : public ListNode {
 public:
  virtual void on_buffer_available() = 0;

 protected:
  ~BufferWaiter() = default;
};

/// Holds slots that it can return on demand. Called from within acquire(), when no slot is free.
class BufferLender {
 public:
  /// Gives one back, if it can.
  virtual void give_back() = 0;

 protected:
  ~BufferLender() = default;
};

/// The pool or lender that a Buffer returns to.
class BufferOwner {
 public:
  virtual void take_back(std::byte* data) = 0;

 protected:
  ~BufferOwner() = default;
};

/// One slot of a pool. Move-only; returns to its owner, as a rule the pool, when destroyed. The
/// owner must outlive it. Not thread safe: a pool and its buffers belong to one shard.
class Buffer {
 public:
  Buffer() = default;
  /// A slot that its present holder, who answers for it to the pool, lends.
  Buffer(BufferOwner& owner, std::span<std::byte> memory)
      : owner_(&owner), data_(memory.data()), size_(memory.size()) {}
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  ~Buffer() { reset(); }

  explicit operator bool() const { return data_ != nullptr; }
  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::span<std::byte> bytes() const { return {data_, size_}; }
  std::span<std::byte> first(std::size_t count) const { return bytes().first(count); }
  void reset();
  /// Gives the slot up without returning it: the caller returns it later (BufferOwner::take_back).
  std::span<std::byte> release();

 private:
  BufferOwner* owner_ = nullptr;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// A fixed number of page-aligned slots of equal size. Memory is reserved at creation and touched
/// on first use (large slots: in huge pages, if the system has them); nothing is allocated later.
class BufferPool final : public BufferOwner {
 public:
  /// Whether a slot may be seen at more than one address.
  enum class Mapping : std::uint8_t { one, many };

  /// slot_size is rounded up to whole pages.
  static Result<std::unique_ptr<BufferPool>> create(std::size_t slot_size, std::size_t slots,
                                                    Mapping mapping = Mapping::one);
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;
  ~BufferPool();

  /// An empty Buffer when every slot is in use.
  Buffer acquire();
  /// The lender that is asked for a slot when none is free; null: none. It outlives the pool.
  void set_lender(BufferLender* lender) { lender_ = lender; }
  void take_back(std::byte* data) override;
  /// Maps the beginning of a slot, whole pages, at `place` as well, in place of the old mapping,
  /// until that address is unmapped or mapped anew. Fails without Mapping::many.
  Result<void> show(const std::byte* slot, std::span<std::byte> place);
  Mapping mapping() const { return mapping_; }
  /// Queues for the next slot that comes back. The waiter unlinks itself to stop waiting.
  void wait(BufferWaiter& waiter) { waiters_.push_back(waiter); }

  std::size_t slot_size() const { return slot_size_; }
  std::size_t slots() const { return slots_; }
  std::size_t available() const { return free_.size(); }
  /// The whole mapping, for registration with a device.
  std::span<std::byte> memory() const { return {base_, slot_size_ * slots_}; }

 private:
  BufferPool(std::byte* base, std::size_t slot_size, std::size_t slots, Mapping mapping);

  std::byte* base_;
  std::size_t slot_size_;
  std::size_t slots_;
  Mapping mapping_;
  std::vector<std::byte*> free_;  // a stack: the most recently used slot is the warmest
  IntrusiveList<BufferWaiter> waiters_;
  BufferLender* lender_ = nullptr;
};

}  // namespace nfsrdma
