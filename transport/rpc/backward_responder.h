// The client as responder: Calls that the server sends over the client's connection, the part
// common to every transport (RFC 8167; RFC 8881 section 2.10.3.1).
#pragma once

#include <cassert>
#include <cstddef>
#include <utility>

#include "transport/base/intrusive_list.h"
#include "transport/base/object_pool.h"
#include "transport/net/fault.h"
#include "transport/rpc/received_backward_call.h"

namespace nfsrdma::rpc {

/// A callback on its way through this side; the transport's slot is `Slot`.
///
/// Life: taken from the pool -> dispatched (holds its message, I2) -> answered: the reply is being
/// sent -> it is sent (I4) -> back to the pool. When the connection is lost meanwhile, the answer
/// only gives the object back.
template <class Slot, class Responder>
class BackwardSlot : public ReceivedBackwardCall, public ListNode {
 public:
  /// `memory` is for the reply.
  BackwardSlot(ObjectPool<Slot>& pool, Buffer memory) : memory_(std::move(memory)), pool_(pool) {}

  /// From its dispatch until it is answered. Null: its connection is gone.
  void serve(Responder* responder) { responder_ = responder; }
  bool sending() const { return sending_; }
  using ReceivedBackwardCall::dispatch;
  /// The reply is sent, or will never be.
  void done() {
    ListNode::unlink();
    sending_ = false;
    pool_.give_back(slot());
  }
  /// For the pool.
  void reset() {
    assert(!sending_ && !ListNode::linked() && "I4, I5: this reply is being sent");
    responder_ = nullptr;
    drop_message();
  }

 protected:
  ~BackwardSlot() = default;

  /// Implements answer().
  void reply(AcceptStat status) {
    assert(!sending_ && "a callback is answered once");
    sending_ = true;
    finish(status);
    if (responder_) {
      responder_->reply(slot());
    } else {
      done();
    }
  }

  Buffer memory_;
  bool sending_ = false;

 private:
  Slot& slot() { return static_cast<Slot&>(*this); }

  ObjectPool<Slot>& pool_;
  Responder* responder_ = nullptr;
};

/// The base of a transport's responder, which is `Wire` and has
///   void send(Slot&)           posts the reply that the slot holds
///   void on_open_changed()     open_calls() is another
template <class Wire, class Slot, class Link>
class BackwardResponder {
 public:
  /// The connection is gone. Answers to callbacks that are still being handled are dropped.
  void on_down() {
    in_use_.for_each([](Entry& slot) {
      slot.unlink();
      slot.serve(nullptr);
      if (slot.sending()) slot.done();  // else its handler still has it
    });
    open_ = 0;
  }
  /// Dispatched and not answered.
  std::size_t open_calls() const { return open_; }
  /// For the slot: its reply is complete.
  void reply(Slot& slot) {
    --open_;
    static_cast<Wire*>(this)->on_open_changed();
    if (link_.ending()) return slot.done();
    static_cast<Wire*>(this)->send(slot);
  }

 protected:
  using Pool = ObjectPool<Slot>;
  using Entry = BackwardSlot<Slot, Wire>;

  BackwardResponder(Link& link, Pool& pool, ChannelObserver& observer)
      : link_(link), pool_(pool), observer_(observer) {}
  ~BackwardResponder() = default;

  /// A slot for one answer; null, and the connection ends, when the server has filled them all.
  Slot* take_slot() {
    Slot* const slot = pool_.take();
    if (slot) {
      Entry& entry = *slot;
      entry.serve(static_cast<Wire*>(this));
      in_use_.push_back(entry);
    } else {
      link_.end(net::callback_error("more of them are open than were agreed on"));
    }
    return slot;
  }
  /// Hands on a callback that the slot has received.
  void dispatch(Slot& slot) {
    link_.counters().backward_calls.add();
    ++open_;
    static_cast<Wire*>(this)->on_open_changed();
    slot.dispatch(observer_, link_.counters().undecodable_callback_lines, link_.reactor().now());
  }

  Link& link_;

 private:
  Pool& pool_;
  ChannelObserver& observer_;
  IntrusiveList<Entry> in_use_;
  std::size_t open_ = 0;
};

}  // namespace nfsrdma::rpc
