// The slots of a session's fore channel (RFC 8881 section 2.10.6.1).
//
// A slot carries one request at a time. Three counters tell what is known of it:
//   seq_nr        the sequence number of the request in progress, or of the next one;
//   last_acked    the highest number for which the server's SEQUENCE has succeeded;
//   highest_sent  the highest number that has ever been put on the wire.
// An idle slot in order has highest_sent == last_acked and seq_nr == last_acked + 1. A slot whose
// request has ended without an answer to its SEQUENCE is in doubt (highest_sent > last_acked):
// only the server knows whether it has taken that number. It gets no other request before a lone
// SEQUENCE has resolved the doubt; SlotTable never hands it out for anything else.
//
// How many slots may be used changes: the server moves sr_target_highest_slotid and recalls slots.
// Requests in progress on slots above the target run to their end; new ones stay below it.
//
// The server may forget a slot that was given up in this way, and then expects 1 when it is used
// again (RFC 8881 section 2.10.6.1 leaves that open).
//
// Ordinary requests leave one usable slot free for the session's own needs (lease renewal,
// resolving), as long as there is more than one. While the session is being recovered (hold()),
// slots are given to the requests of the recovery only.
#pragma once

#include <cstdint>
#include <vector>

#include "client/proto/types.h"
#include "transport/base/sync/wait_queue.h"
#include "transport/rpc/call.h"

namespace nfsrdma::client {

/// See the head of this file.
struct Slot {
  nfs4::slotid4 id = 0;
  nfs4::sequenceid4 seq_nr = 1;
  nfs4::sequenceid4 last_acked = 0;
  nfs4::sequenceid4 highest_sent = 0;
  TimePoint sent_at{0};  ///< when its request went out last
  /// Connections that ended without an answer to it although a later request had got one.
  std::uint32_t overtaken = 0;
  bool busy = false;
  bool retired = false;  ///< the server had taken it back since it was last used

  bool in_doubt() const { return highest_sent != last_acked; }
  void record_sent(TimePoint now) {
    highest_sent = seq_nr;
    sent_at = now;
  }
  void record_acked() {
    last_acked = highest_sent = seq_nr;
    ++seq_nr;
    retired = false;
  }
  /// The server is known not to have taken seq_nr: it can be used again.
  void record_not_taken() { highest_sent = last_acked; }
  /// The server has made the slot anew.
  void start_over() {
    seq_nr = 1;
    last_acked = highest_sent = 0;
    retired = false;
  }
};

class SlotTable;

/// A slot in use, or nothing. Valid for the session it was taken in: after SlotTable::reset() it
/// names nothing any more.
class SlotHold {
 public:
  SlotHold() = default;
  SlotHold(SlotHold&& other) noexcept { *this = std::move(other); }
  SlotHold& operator=(SlotHold&& other) noexcept;
  ~SlotHold() { release(); }

  /// False when there is none or its session is gone.
  explicit operator bool() const;
  Slot& operator*() const;
  Slot* operator->() const { return &**this; }
  void release();

 private:
  friend class SlotTable;
  SlotHold(SlotTable& table, std::size_t index, std::uint32_t generation)
      : table_(&table), index_(index), generation_(generation) {}

  SlotTable* table_ = nullptr;
  std::size_t index_ = 0;
  std::uint32_t generation_ = 0;
};

/// Hands out slots, lowest number first, to waiters in order. Belongs to one shard.
class SlotTable {
 public:
  explicit SlotTable(Reactor& reactor) : ordinary_(reactor), reserved_(reactor) {}

  /// A new session with `slots` slots (ca_maxrequests), which the server may raise to `most` later.
  /// Holds of the old one become empty. Only the recovery gets a slot before open().
  void reset(std::uint32_t slots, std::uint32_t most);
  /// From now until open() slots are for the recovery only.
  void hold() { open_ = false; }
  bool is_open() const { return open_; }
  void open();
  /// For a request of the recovery: at once, or none.
  SlotHold take_for_recovery() { return take_idle(usable_); }

  class Acquire : public WaitQueue::Wait {
   public:
    Acquire(SlotTable& table, rpc::Urgency urgency)
        : Wait(table.waiting_for(urgency)), table_(table), urgency_(urgency) {}
    bool await_ready();
    /// Empty when the table was closed, and (rarely) when the session changed meanwhile.
    SlotHold await_resume() { return std::move(hold_); }

   private:
    friend class SlotTable;
    SlotTable& table_;
    rpc::Urgency urgency_;
    SlotHold hold_;
  };
  /// `auto slot = co_await slots.acquire(urgency);`
  Acquire acquire(rpc::Urgency urgency) { return Acquire(*this, urgency); }
  /// Every slot that such a request may have is in use.
  bool exhausted(rpc::Urgency urgency) const;
  /// An idle slot that must be resolved, if there is one.
  SlotHold take_in_doubt();

  /// From sr_target_highest_slotid or CB_RECALL_SLOT; bounded by what the
  /// client can use.
  void set_target(nfs4::slotid4 target_highest_slotid);
  /// sa_highest_slotid: the highest slot in use, 0 when there is none.
  nfs4::slotid4 highest_used() const;
  std::uint32_t usable() const { return usable_; }
  std::uint32_t in_use() const { return busy_; }
  /// Slots whose request went out last before `time`, and was passed over on so many connections.
  std::uint32_t sent_before(TimePoint time, std::uint32_t overtaken) const;
  std::size_t waiting() const { return ordinary_.size() + reserved_.size(); }
  bool closed() const { return closed_; }

  /// Every waiter, now and in future, gets an empty hold.
  void close();

 private:
  friend class SlotHold;

  SlotHold try_take(rpc::Urgency urgency);
  SlotHold take_idle(std::uint32_t below);
  void release(std::size_t index, std::uint32_t generation);
  void hand_out();
  void serve(rpc::Urgency urgency);
  WaitQueueOf<Acquire>& waiting_for(rpc::Urgency urgency) {
    return urgency == rpc::Urgency::reserved ? reserved_ : ordinary_;
  }

  std::vector<Slot> slots_;
  std::uint32_t most_ = 0;
  std::uint32_t generation_ = 0;
  std::uint32_t usable_ = 0;  // slots 0 .. usable_ - 1 may be taken
  std::uint32_t busy_ = 0;
  bool open_ = false;
  bool closed_ = false;
  WaitQueueOf<Acquire> ordinary_;
  WaitQueueOf<Acquire> reserved_;
};

}  // namespace nfsrdma::client
