// Keeps writes of the same bytes in order: a gathered write is sent after its callers were
// answered, when they may have written the same place again.
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>

#include "transport/base/intrusive_list.h"
#include "transport/base/reactor.h"
#include "transport/base/sync/wait_queue.h"

namespace nfsrdma::cache {

/// The writes of one file in flight. A write that overlaps an earlier one waits for it, and an
/// append waits for all earlier ones, so that the server's file never has a hole; all others are
/// sent in parallel. Belongs to one shard; must not be destroyed while an operation is in it.
class WriteOrder {
 public:
  enum class Kind : std::uint8_t {
    direct,    ///< its caller waits
    gathered,  ///< its callers have been answered
    durable,   ///< the same, and it needs no COMMIT
    look,      ///< no write: waits for gathered ones
    read,      ///< no write: waits for those of the same bytes
  };

  explicit WriteOrder(Reactor& reactor) : waiting_(reactor) {}
  WriteOrder(const WriteOrder&) = delete;
  WriteOrder& operator=(const WriteOrder&) = delete;

  enum class Place : std::uint8_t { anywhere, at_end };

  /// A place in the order, from its making to its destruction. `co_await turn;` returns when the
  /// write may be sent. A caller that also passes OpenInode::gate takes its turn first and enters
  /// the gate at once, so that both have the same order.
  class Turn : public ListNode {
   public:
    Turn(WriteOrder& order, Kind kind, std::uint64_t offset, std::size_t length,
         Place place = Place::anywhere);
    ~Turn();

    bool await_ready() const { return !order_.blocked(*this); }
    void await_suspend(std::coroutine_handle<> waiter) { wait_.await_suspend(waiter); }
    void await_resume() const {}

   protected:
    friend class WriteOrder;
    WriteOrder& order_;
    const std::uint64_t offset_;
    const std::uint64_t end_;
    WaitQueue::Wait wait_;
    std::size_t most_ = 0;  ///< of a look: gathered writes that may still be in flight
    const Kind kind_;
    const Place place_;
  };

  /// `co_await look;` returns when at most `most` of the gathered writes that are in flight now are
  /// left.
  class Look : public Turn {
   public:
    Look(WriteOrder& order, std::size_t most) : Turn(order, Kind::look, 0, 0) { most_ = most; }
  };

  /// `co_await reading;` returns when no write of these bytes is left of those that are in flight
  /// now.
  class Reading : public Turn {
   public:
    Reading(WriteOrder& order, std::uint64_t offset, std::size_t length)
        : Turn(order, Kind::read, offset, length) {}
  };

  /// Gathered writes in flight.
  std::size_t gathered() const { return gathered_; }
  /// Those of them that need a COMMIT.
  std::size_t unstable() const { return unstable_; }
  /// Whether writes are in flight that were not answered before they were sent: those count in no
  /// size yet.
  bool direct() const { return direct_ > 0; }
  /// The end of the gathered write that reaches farthest; 0 without any.
  std::uint64_t gathered_end();

 private:
  static bool answered(Kind kind) { return kind == Kind::gathered || kind == Kind::durable; }
  static bool writes(const Turn& turn) {
    return turn.kind_ == Kind::direct || answered(turn.kind_);
  }
  bool blocked(const Turn& turn);
  void let_in();

  IntrusiveList<Turn> turns_;
  WaitQueue waiting_;
  std::size_t gathered_ = 0;
  std::size_t unstable_ = 0;
  std::size_t direct_ = 0;
};

}  // namespace nfsrdma::cache
