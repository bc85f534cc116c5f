// Sends Calls and completes them, for one connection: the part common to every transport.
//
// A Call: queued -> its turn -> sent -> reply or error (its XID is retired) -> memory that it lent
// is no longer in use -> decoded and reported.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "transport/base/probe.h"
#include "transport/net/fault.h"
#include "transport/rpc/call.h"
#include "transport/rpc/call_context.h"
#include "transport/rpc/call_queue.h"
#include "transport/rpc/failed_calls.h"
#include "transport/rpc/xid_table.h"

namespace nfsrdma::rpc {

/// The outcome for the Call whose turn it was.
enum class Sent : std::uint8_t { yes, wait, failed };

/// The base of a transport's requester, which is `Wire` (no virtual calls) and has
///   Sent send(Call&)             sends it (with open()), refuses it, or leaves it in the queue
///   const auto& window() const   in_flight() and may_send(Urgency), for the queue
///   void on_retired(Context&)    its reply is known, or the connection is gone
///   void release(Context&)       the connection is gone: nothing it lent is in use any more
///   Result<Reply> decode(Context&)
///   void on_ending(Context&)     nothing it lent is in use any more; its end is reported next
/// Context derives from CallContext and has finished(). Link has counters(), reactor(), ending(),
/// reason(), hurry(); Pools has `contexts`.
template <class Wire, class Context, class Link, class Pools>
class Requester {
 public:
  Requester(const Requester&) = delete;
  Requester& operator=(const Requester&) = delete;

  /// Sends the call or queues it. Never ends it from within.
  void submit(Call& call) {
    if (link_.ending()) {
      failed_.add(call, net::as_loss(link_.reason()));
      return;
    }
    call.reply.reset();
    queue_.push(call);
    pump();
    if (call.linked() && !call.reply) {
      NFSRDMA_PROBE(credit_wait, call.xid, queue_.size(), in_flight());
      link_.counters().queue_waits.add();
    }
  }
  /// Sends the queued calls that may be sent now.
  void pump() {
    link_.counters().pumps.add();
    while (!link_.ending()) {
      Call* const call = queue_.next(wire().window(), isolated_ != nullptr);
      if (!call || wire().send(*call) == Sent::wait) break;
    }
    if (queue_.size() > 0 && !link_.ending())
      link_.hurry();  // what it waits for may be a call that is kept
  }

  /// The open Call with this XID, or null.
  Context* find(std::uint32_t xid) {
    link_.counters().xid_lookups.add();
    return static_cast<Context*>(open_.find(xid));
  }
  /// The connection ends because of this Call's reply. Null: because of none.
  void blame(Context* context) { poison_call_ = context; }
  /// The memory of the call's message is this side's again.
  void on_sent(Context& context) {
    context.sent = true;
    complete_if_finished(context);
  }
  /// The connection is gone: ends every call, those that have their reply with it.
  void on_down() {
    const Error reason = link_.reason();
    fail_open_calls(reason);
    const TimePoint now = link_.reactor().now();
    while (!in_use_.empty()) complete(static_cast<Context&>(in_use_.front()), now);
    while (Call* call = queue_.pop()) {
      link_.counters().failed_calls.add();
      call->reply = fail(net::as_loss(reason));
      call->observer->on_call_done(*call);
    }
  }
  /// Ends the calls that failed without being sent. Called from the reactor.
  void tell_failed() { failed_.tell(); }

  /// Calls that are queued, or sent and not answered.
  std::size_t open_calls() const { return queue_.size() + in_flight(); }
  std::size_t in_flight() const { return static_cast<const Wire&>(*this).window().in_flight(); }
  /// Replies and errors that ended a Call.
  std::uint64_t replies() const { return replies_; }

 protected:
  /// `calls`: about how many are open at once.
  Requester(Link& link, Pools& pools, std::size_t calls)
      : link_(link), pools_(pools), open_(calls), failed_(link.reactor()) {}
  ~Requester() = default;

  /// The call cannot be sent on any connection.
  Sent refuse(Call& call, Error error) {
    queue_.remove(call);
    failed_.add(call, std::move(error));
    return Sent::failed;
  }
  /// The call leaves the queue and is about to be sent.
  void open(Context& context) {
    Call& call = *context.call;
    call.times.sent = link_.reactor().now();
    NFSRDMA_PROBE(xprt_transmit, call.xid, call.encoder.message_size(),
                  (call.times.sent - call.times.submitted).count());
    queue_.remove(call);
    open_.add(context);
    in_use_.push_back(context);
    if (call.isolated()) isolated_ = &context;
  }
  /// Nothing more comes for this call.
  void retire(Context& context) {
    context.answered = true;
    context.call->times.replied = link_.reactor().now();
    if (isolated_ == &context) isolated_ = nullptr;
    open_.remove(context);
    wire().on_retired(context);
  }
  /// Call after retire() for a reply: reports the call if that was all, and sends queued calls.
  void finish_reply(Context& context) {
    const CallTimes& times = context.call->times;
    NFSRDMA_PROBE(xprt_lookup_rqst, context.call->xid, (times.replied - times.sent).count());
    ++replies_;
    if (context.finished()) complete(context, context.call->times.replied);
    pump();
  }
  void complete_if_finished(Context& context) {
    if (!context.finished()) return;
    complete(context, link_.reactor().now());
    pump();
  }

  Link& link_;
  Pools& pools_;

 private:
  Wire& wire() { return static_cast<Wire&>(*this); }

  void complete(Context& context, TimePoint now) {
    Call& call = *context.call;
    call.times.completed = now;
    NFSRDMA_PROBE(xprt_complete_rqst, call.xid, (now - call.times.replied).count());
    wire().on_ending(context);
    if (context.error) {
      call.reply = fail(std::move(*context.error));
    } else {
      call.reply = wire().decode(context);
    }
    static_cast<CallContext&>(context).unlink();
    pools_.contexts->give_back(context);
    call.observer->on_call_done(call);
  }

  /// Calls without an answer get the loss of the connection for one. Blames the call whose reply
  /// was malformed, else the isolated call that was open, else every open call.
  void fail_open_calls(const Error& reason) {
    const CallContext* const blamed = poison_call_ ? poison_call_ : isolated_;
    in_use_.for_each([&](CallContext& each) {
      auto& context = static_cast<Context&>(each);
      wire().release(context);
      context.sent = true;
      if (context.answered) return;
      ConnectionLosses& losses = context.call->losses;
      ++losses.total;
      const bool to_blame = blamed ? blamed == &context : !context.call->blameless;
      if (to_blame && net::message_can_cause(reason)) losses.blame(reason.code);
      context.error = net::as_loss(reason);
      retire(context);
      link_.counters().failed_calls.add();
    });
    isolated_ = poison_call_ = nullptr;
  }

  CallQueue queue_;
  XidTable open_;
  IntrusiveList<CallContext> in_use_;   // in the order they were sent
  CallContext* isolated_ = nullptr;     // an open isolated call: nothing ordinary may join it
  CallContext* poison_call_ = nullptr;  // the call whose reply ended the connection
  FailedCalls failed_;
  std::uint64_t replies_ = 0;
};

}  // namespace nfsrdma::rpc
