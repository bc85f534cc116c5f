// The memory of written data that the server has not yet made durable, bounded for a whole mount.
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <span>

#include "transport/base/buffer.h"
#include "transport/base/metrics.h"
#include "transport/base/reactor.h"
#include "transport/base/sync/wait_queue.h"

namespace nfsrdma::cache {

class UncommittedMemory;

/// Some written bytes: the slot they arrived in, or a copy of them. Shared by the pieces that view
/// them; the memory must outlive it.
class UncommittedBytes {
 public:
  UncommittedBytes(UncommittedMemory& memory, Buffer slot);
  UncommittedBytes(UncommittedMemory& memory, std::span<const std::byte> data);
  UncommittedBytes(const UncommittedBytes&) = delete;
  UncommittedBytes& operator=(const UncommittedBytes&) = delete;
  ~UncommittedBytes();

  /// The copy; empty when the bytes stayed in their slot.
  std::span<const std::byte> copy() const { return copy_; }

 private:
  UncommittedMemory& memory_;
  Buffer slot_;
  std::span<std::byte> copy_;
};

/// The memory that keeps one write: `data` views `owner`.
struct Uncommitted {
  std::shared_ptr<UncommittedBytes> owner;
  std::span<const std::byte> data;
};

/// Hands out memory for written data, counts it, and lets writers wait while there is too much of
/// it. One for each mount; belongs to its shard.
class UncommittedMemory {
 public:
  struct Limits {
    std::size_t slots = 0;                             ///< slots of the data pool kept at most
    std::size_t copied_bytes = std::size_t{16} << 20;  ///< taken by copies at most
  };
  /// A write up to this size is copied and gives its slot back: a slot has room for 1 MiB.
  static constexpr std::size_t kCopyBelow = std::size_t{64} << 10;
  /// What a copy takes besides its bytes, about: its owner, and its piece in an index.
  static constexpr std::size_t kBesideACopy = 256;

  UncommittedMemory(Reactor& reactor, Limits limits);
  UncommittedMemory(const UncommittedMemory&) = delete;
  UncommittedMemory& operator=(const UncommittedMemory&) = delete;

  /// Keeps `data`, which lies in `slot`. Afterwards `slot` is empty if it was kept.
  Uncommitted keep(Buffer& slot, std::span<const std::byte> data);

  /// At a limit: further writes wait.
  bool full() const;
  /// Half way to a limit: time for an early COMMIT.
  bool filling() const;

  /// `co_await memory.room();` returns when the memory is not full.
  class Room : public WaitQueue::Wait {
   public:
    explicit Room(UncommittedMemory& memory) : Wait(memory.waiting_), memory_(memory) {}
    bool await_ready() const { return !memory_.full(); }
    void await_suspend(std::coroutine_handle<> waiter);

   private:
    UncommittedMemory& memory_;
  };
  Room room() { return Room(*this); }

  /// The server has forgotten all, and may have lost what it had not committed.
  void on_all_forgotten() { ++times_forgotten_; }
  std::uint64_t times_forgotten() const { return times_forgotten_; }

  std::size_t slots_uncommitted() const { return slots_uncommitted_; }
  std::size_t bytes_copied() const { return bytes_copied_; }
  /// For the nodes of whatever indexes the kept data: allocates from the system only while growing.
  std::pmr::memory_resource& nodes() { return pool_; }
  void visit_counters(CounterVisitor& visitor) const;

 private:
  friend class UncommittedBytes;
  void released();
  std::size_t taken_by_copies() const { return bytes_copied_ + copies_ * kBesideACopy; }

  Limits limits_;
  std::pmr::unsynchronized_pool_resource pool_;
  WaitQueue waiting_;
  Deferred let_one_in_;
  std::size_t slots_uncommitted_ = 0;
  std::size_t bytes_copied_ = 0;
  std::size_t copies_ = 0;
  std::uint64_t times_forgotten_ = 0;
  Counter writes_kept_in_slot_;
  Counter writes_copied_;
  Counter bytes_copied_total_;
  Counter writers_delayed_;
};

}  // namespace nfsrdma::cache
