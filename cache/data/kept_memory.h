// The memory of written data that the server has not yet made durable, bounded for a whole mount.
#pragma once

#include <coroutine>
#include <cstddef>
#include <memory>
#include <memory_resource>
#include <span>

#include "transport/base/buffer.h"
#include "transport/base/intrusive_list.h"
#include "transport/base/metrics.h"
#include "transport/base/reactor.h"

namespace nfsrdma::cache {

class KeptMemory;

/// Some written octets: the slot they arrived in, or a copy of them. Shared by the pieces that view
/// them; the memory must outlive it.
class KeptOctets {
 public:
  KeptOctets(KeptMemory& memory, Buffer slot);
  KeptOctets(KeptMemory& memory, std::span<const std::byte> data);
  KeptOctets(const KeptOctets&) = delete;
  KeptOctets& operator=(const KeptOctets&) = delete;
  ~KeptOctets();

  /// The copy; empty when the octets stayed in their slot.
  std::span<const std::byte> copy() const { return copy_; }

 private:
  KeptMemory& memory_;
  Buffer slot_;
  std::span<std::byte> copy_;
};

/// What a write is kept in: `data` views `owner`.
struct Kept {
  std::shared_ptr<KeptOctets> owner;
  std::span<const std::byte> data;
};

/// Hands out memory for written data, counts it, and lets writers wait while there is too much of
/// it. One for each mount; belongs to its shard.
class KeptMemory {
 public:
  struct Limits {
    std::size_t slots = 0;                              ///< slots of the data pool kept at most
    std::size_t copied_octets = std::size_t{16} << 20;  ///< octets of copies kept at most
  };
  /// A write up to this size is copied and gives its slot back: a slot has room for 1 MiB.
  static constexpr std::size_t kCopyBelow = std::size_t{64} << 10;

  KeptMemory(Reactor& reactor, Limits limits);
  KeptMemory(const KeptMemory&) = delete;
  KeptMemory& operator=(const KeptMemory&) = delete;

  /// Keeps `data`, which lies in `slot`. Afterwards `slot` is empty if it was kept.
  Kept keep(Buffer& slot, std::span<const std::byte> data);

  /// At a limit: further writes wait.
  bool full() const;
  /// Half way to a limit: time for an early COMMIT.
  bool filling() const;

  /// `co_await memory.room();` returns when the memory is not full.
  class Room : public ListNode {
   public:
    explicit Room(KeptMemory& memory) : memory_(memory) {}
    bool await_ready() const { return !memory_.full(); }
    void await_suspend(std::coroutine_handle<> waiter);
    void await_resume() const {}

   private:
    friend class KeptMemory;
    KeptMemory& memory_;
    std::coroutine_handle<> waiter_;
  };
  Room room() { return Room(*this); }

  std::size_t slots_kept() const { return slots_kept_; }
  std::size_t octets_copied() const { return octets_copied_; }
  /// For the nodes of whatever indexes the kept data: allocates from the system only while growing.
  std::pmr::memory_resource& nodes() { return pool_; }
  void visit_counters(CounterVisitor& visitor) const;

 private:
  friend class KeptOctets;
  void released();
  void let_in();

  Limits limits_;
  std::pmr::unsynchronized_pool_resource pool_;
  IntrusiveList<Room> waiting_;
  Deferred wake_;
  std::size_t slots_kept_ = 0;
  std::size_t octets_copied_ = 0;
  Counter writes_kept_in_slot_;
  Counter writes_copied_;
  Counter octets_copied_total_;
  Counter writers_delayed_;
};

}  // namespace nfsrdma::cache
