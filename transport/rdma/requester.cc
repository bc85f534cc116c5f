#include "transport/rdma/requester.h"

#include <cassert>

#include "transport/base/log.h"
#include "transport/rdma/call_send.h"
#include "transport/rdma/fault.h"

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
    : Base(link, pools, link.options().credits),
      credits_(link.options().credits),
      pump_later_(link.reactor(), [this] { pump(); }) {}

rpc::Sent Requester::send(rpc::Call& call) {
  auto plan = plan_call(call, link_.thresholds(), link_.options());
  if (plan && plan->reply_chunk > pools_.reply_chunks.slot_size()) {
    plan = fail(transport_error(Fault::reply_too_large, "plan the call"));
  }
  if (!plan) return refuse(call, std::move(plan.error()));
  // V1-3.3.1-10: the Receive for the reply is posted before the Call.
  if (!link_.cover(credits_.used() + 1)) {
    if (!MessageWaiter::linked()) link_.receives().wait(*this);
    return rpc::Sent::wait;
  }
  CallContext* context = pools_.contexts->take();
  if (!context)
    return rpc::Sent::wait;  // one comes back when a Send is done or a lease is invalidated
  context->requester = this;
  context->call = &call;
  context->plan = *plan;
  return send_with(*context);
}

rpc::Sent Requester::send_with(CallContext& context) {
  rpc::Call& call = *context.call;
  if (!acquire_reply_chunk(context)) {
    give_back(context);
    return rpc::Sent::wait;
  }
  auto exposed = expose_memory(link_, context);
  if (!exposed) {
    give_back(context);
    return refuse(call, std::move(exposed.error()));
  }
  credits_.take();
  open(context);
  assert(link_.posted() >= credits_.in_flight() + link_.options().backward_credits);
  post_call(link_, context, credits_.requested(), outgoing_);
  return rpc::Sent::yes;
}

/// For a context whose call was never posted.
void Requester::give_back(CallContext& context) {
  context.sent = true;
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
  count_reply(context);
  answer(context, invalidated);
}

void Requester::on_error(CallContext& context, const Header& header,
                         std::optional<std::uint32_t> invalidated) {
  if (!invalidation_is_legal(context, invalidated)) {
    return on_malformed(context, "invalidates a handle that is not this call's");
  }
  context.error = error_of(header);
  link_.counters().error_replies.add();
  answer(context, invalidated);
}

void Requester::on_malformed(CallContext& context, const char* what) {
  link_.counters().bad_replies.add();
  link_.counters().bad_reply_lines.warning(
      link_.reactor().now(), "dropped a malformed reply to XID {:#x}: {}", context.call->xid, what);
  blame(&context);
  link_.end(protocol_error("RPC-over-RDMA reply", what));
}

void Requester::answer(CallContext& context, std::optional<std::uint32_t> invalidated) {
  retire(context);
  auto& counters = link_.counters();
  context.call->invalidated = invalidated;
  counters.remote_invalidations.add(invalidated ? 1 : 0);
  counters.local_invalidations.add(context.leases.count() - (invalidated ? 1 : 0));
  SendOwner* const sender = &context;
  if (!context.sent) context.sent = link_.endpoint().answered(sender);
  context.bound_leases = context.leases.invalidate(link_.endpoint());
  finish_reply(context);
}

void Requester::on_invalidated(fabric::Lease& lease) {
  CallContext& context = *static_cast<CallLease&>(lease).owner;
  assert(context.bound_leases > 0);
  --context.bound_leases;
  complete_if_finished(context);
}

void Requester::on_ending([[maybe_unused]] CallContext& context) {
  assert(context.leases.all_free() && "I3: memory of a finished call is out of reach");
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
  MessageWaiter::unlink();
  pump_later_.cancel();
  Base::on_down();
}

}  // namespace nfsrdma::rdma
