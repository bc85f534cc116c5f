#include "transport/rdma/requester.h"

#include <cassert>

#include "transport/base/log.h"
#include "transport/rdma/call_send.h"
#include "transport/rdma/fault.h"
#include "transport/rdma/reply.h"

namespace nfsrdma::rdma {
namespace {

Error error_of(const Header& header) {
  if (header.error.err == ERR_CHUNK) {
    return transport_error(Fault::err_chunk, "RPC-over-RDMA call");
  }
  return transport_error(Fault::err_vers, "RPC-over-RDMA call",
                         "it speaks versions " + std::to_string(header.error.rdma_vers_low) +
                             " to " + std::to_string(header.error.rdma_vers_high));
}

}  // namespace

Requester::Requester(Link& link, Pools& pools)
    : link_(link),
      pools_(pools),
      credits_(link.options().credits),
      open_(link.options().credits),
      failed_(link.reactor()),
      pump_later_(link.reactor(), [this] { pump(); }) {}

void Requester::submit(rpc::Call& call) {
  if (link_.ending()) {
    failed_.add(call, net::as_loss(link_.reason()));
    return;
  }
  call.reply.reset();
  queue_.push(call);
  pump();
  if (call.linked() && !call.reply) link_.counters().queue_waits.add();
}

void Requester::pump() {
  link_.counters().pumps.add();
  while (!link_.ending()) {
    rpc::Call* call = queue_.next(credits_, suspect_ != nullptr);
    if (!call || send(*call) == Sent::wait) return;
  }
}

Requester::Sent Requester::send(rpc::Call& call) {
  auto plan = plan_call(call, link_.thresholds(), link_.options());
  if (plan && plan->reply_chunk > pools_.reply_chunks.slot_size()) {
    plan = fail(transport_error(Fault::reply_too_large, "plan the call"));
  }
  if (!plan) {
    queue_.remove(call);
    failed_.add(call, std::move(plan.error()));
    return Sent::failed;
  }
  // V1-3.3.1-10: the Receive for the reply is posted before the Call.
  if (!link_.cover(credits_.used() + 1)) {
    if (!ReceiveWaiter::linked()) link_.receives().wait(*this);
    return Sent::wait;
  }
  CallContext* context = pools_.contexts->take();
  if (!context) return Sent::wait;  // one comes back when a Send is done or a lease is invalidated
  context->requester = this;
  context->call = &call;
  context->plan = *plan;
  return send_with(*context);
}

Requester::Sent Requester::send_with(CallContext& context) {
  rpc::Call& call = *context.call;
  if (!acquire_reply_chunk(context)) {
    give_back(context);
    return Sent::wait;
  }
  auto exposed = expose_memory(link_, context);
  queue_.remove(call);
  if (!exposed) {
    give_back(context);
    failed_.add(call, std::move(exposed.error()));
    return Sent::failed;
  }
  credits_.take();
  open_.add(context);
  in_use_.push_back(context);
  if (call.suspect()) suspect_ = &context;
  assert(link_.posted() >= credits_.in_flight() + link_.options().backward_credits);
  post_call(link_, context, credits_.requested(), outgoing_);
  return Sent::yes;
}

/// For a context whose call was never posted.
void Requester::give_back(CallContext& context) {
  context.send_done = true;
  pools_.contexts->give_back(context);
}

bool Requester::acquire_reply_chunk(CallContext& context) {
  if (context.plan.reply_chunk == 0) return true;
  Buffer buffer = pools_.reply_chunks.acquire();
  if (!buffer) {
    if (!BufferWaiter::linked()) pools_.reply_chunks.wait(*this);
    return false;
  }
  context.reply_chunk = std::move(buffer);
  return true;
}

bool Requester::invalidation_is_legal(const CallContext& context,
                                      std::optional<std::uint32_t> handle) const {
  return !handle || (link_.thresholds().remote_invalidation && context.leases.has_handle(*handle));
}

void Requester::on_reply(CallContext& context, const Header& header,
                         std::span<const std::byte> payload, rpc::MessageRef message,
                         std::optional<std::uint32_t> invalidated) {
  const auto shape = check_reply(header, context);
  if (!shape) return on_malformed(context, shape.error());
  if (!invalidation_is_legal(context, invalidated)) {
    return on_malformed(context, "invalidates a handle that is not this call's");
  }
  if (!is_placed(header, context, link_.endpoint())) {
    link_.counters().unplaced_replies.add();
    return on_malformed(context, "claims bytes that no RDMA Write has placed");
  }
  context.message = std::move(message);
  context.inline_message = payload;
  context.shape = *shape;
  if (header.rdma_credit == 0) {
    link_.counters().zero_grants.add();
    link_.counters().zero_grant_lines.warning(link_.reactor().now(),
                                              "the server granted no credit; going on with one");
  }
  if (credits_.grant(header.rdma_credit)) link_.counters().grants.add();
  ++replies_;
  count_reply(context);
  answer(context, invalidated);
}

void Requester::on_error(CallContext& context, const Header& header,
                         std::optional<std::uint32_t> invalidated) {
  if (!invalidation_is_legal(context, invalidated)) {
    return on_malformed(context, "invalidates a handle that is not this call's");
  }
  context.error = error_of(header);
  ++replies_;
  link_.counters().error_replies.add();
  answer(context, invalidated);
}

void Requester::on_malformed(CallContext& context, const char* what) {
  link_.counters().bad_replies.add();
  link_.counters().bad_reply_lines.warning(
      link_.reactor().now(), "dropped a malformed reply to XID {:#x}: {}", context.call->xid, what);
  poison_call_ = &context;
  link_.end(protocol_error("RPC-over-RDMA reply", what));
}

void Requester::answer(CallContext& context, std::optional<std::uint32_t> invalidated) {
  context.answered = true;
  if (suspect_ == &context) suspect_ = nullptr;
  open_.remove(context);
  credits_.give_back();
  auto& counters = link_.counters();
  counters.remote_invalidations.add(invalidated ? 1 : 0);
  counters.local_invalidations.add(context.leases.count() - (invalidated ? 1 : 0));
  SendOwner* const sender = &context;
  if (!context.send_done) context.send_done = link_.endpoint().answered(sender);
  context.bound_leases = context.leases.invalidate(link_.endpoint());
  if (context.finished()) complete(context);
  pump();
}

void Requester::on_invalidated(fabric::Lease& lease) {
  CallContext& context = *static_cast<CallLease&>(lease).owner;
  assert(context.bound_leases > 0);
  --context.bound_leases;
  complete_if_finished(context);
}

void Requester::on_send_done(CallContext& context) {
  context.send_done = true;
  complete_if_finished(context);
}

void Requester::complete_if_finished(CallContext& context) {
  if (!context.finished()) return;
  complete(context);
  pump();
}

void Requester::complete(CallContext& context) {
  assert(context.leases.all_free() && "I3: memory of a finished call is out of reach");
  rpc::Call& call = *context.call;
  if (context.error) {
    call.reply = fail(std::move(*context.error));
  } else {
    call.reply = decode_reply(context);
  }
  context.unlink();
  pools_.contexts->give_back(context);
  call.observer->on_call_done(call);
}

void Requester::count_reply(const CallContext& context) {
  auto& counters = link_.counters();
  counters.reply_bytes_ddp.add(context.shape.placed.value_or(0) +
                               context.shape.long_reply.value_or(0));
  if (context.shape.long_reply) {
    counters.long_replies.add();
  } else {
    counters.inline_replies.add();
    counters.reply_bytes_inline.add(context.inline_message.size());
  }
}

void Requester::on_down() {
  BufferWaiter::unlink();
  ReceiveWaiter::unlink();
  pump_later_.cancel();
  const Error reason = link_.reason();
  release_all_from_provider(reason);
  while (!in_use_.empty()) complete(in_use_.front());
  while (rpc::Call* call = queue_.pop()) {
    link_.counters().failed_calls.add();
    call->reply = fail(net::as_loss(reason));
    call->observer->on_call_done(*call);
  }
}

/// Every lease is free and every Send is over by the provider's word; calls without an answer get
/// the loss of the connection for one.
void Requester::release_all_from_provider(const Error& reason) {
  in_use_.for_each([&](CallContext& context) {
    context.send_done = true;
    context.bound_leases = 0;
    if (context.answered) return;
    note_loss(context, reason);
    context.error = net::as_loss(reason);
    context.answered = true;
    open_.remove(context);
    credits_.give_back();
    link_.counters().failed_calls.add();
  });
  suspect_ = poison_call_ = nullptr;
}

/// Blames the call whose reply was malformed, else the suspect that was open, else every open call.
void Requester::note_loss(CallContext& context, const Error& reason) const {
  rpc::ConnectionLosses& losses = context.call->losses;
  ++losses.total;
  if (!net::message_can_cause(reason)) return;
  const CallContext* blamed = poison_call_ ? poison_call_ : suspect_;
  if (!blamed || blamed == &context) losses.blame(reason.code);
}

}  // namespace nfsrdma::rdma
