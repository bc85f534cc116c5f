#include "transport/tcp/requester.h"

#include <algorithm>
#include <cassert>
#include <cerrno>

#include "transport/rpc/message.h"

namespace nfsrdma::tcp {
namespace {

bool is_placeable(const rpc::Call& call) { return call.locator && !call.result_sink.empty(); }

/// Blames the call whose reply was malformed or the suspect that was open, else every open call.
void note_loss(const CallContext& context, const CallContext* blamed, const Error& reason) {
  rpc::ConnectionLosses& losses = context.call->losses;
  ++losses.total;
  if (!net::message_can_cause(reason)) return;
  if (!blamed || blamed == &context) losses.blame(reason.code);
}

Result<rpc::Reply> decode_reply(CallContext& context) {
  Received& received = context.reply;
  rpc::Reply reply;
  reply.results = xdr::Decoder(received.bytes);
  if (received.payload) {
    auto& message = static_cast<Message&>(*received.message);
    message.placed[0] = {.data = context.call->result_sink.first(*received.payload)};
    reply.results.place_in_order(message.placed);
  }
  TRY(rpc::decode_reply_header(reply.results, context.call->xid));
  reply.message = std::move(received.message);
  reply.reply_chunk = std::move(received.large);
  return reply;
}

}  // namespace

Requester::Requester(Link& link, Pools& pools)
    : link_(link),
      pools_(pools),
      open_(link.options().calls + kReservedCalls),
      failed_(link.reactor()) {}

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
  while (!link_.ending()) {
    rpc::Call* call = queue_.next(*this, suspect_ != nullptr);
    if (!call || !send(*call)) return;
  }
}

bool Requester::may_send(rpc::Urgency urgency) const {
  return urgency == rpc::Urgency::reserved || ordinary_ < link_.options().calls;
}

/// Calls are bounded by the session's ca_maxrequestsize; these are the bounds of this transport.
Result<void> Requester::check(const rpc::Call& call) const {
  if (call.encoder.message_size() > RecordMark::kMaxLength) {
    return fail(Error::local(EMSGSIZE, "RPC call", "it does not fit one record fragment"));
  }
  if (call.max_reply > pools_.large.slot_size()) {
    return fail(Error::local(EMSGSIZE, "RPC call", "its reply could be too large"));
  }
  return {};
}

/// False when there is no context for the call now.
bool Requester::send(rpc::Call& call) {
  if (auto fits = check(call); !fits) {
    queue_.remove(call);
    failed_.add(call, std::move(fits.error()));
    return true;
  }
  CallContext* context = pools_.contexts->take();
  if (!context) return false;
  queue_.remove(call);
  context->requester = this;
  context->call = &call;
  in_use_.push_back(context->in_use);
  open_.add(*context);
  ++in_flight_;
  if (call.urgency == rpc::Urgency::ordinary) ++ordinary_;
  if (call.suspect()) suspect_ = context;
  if (is_placeable(call)) {
    ++placeable_;
    least_offset_ = std::min(least_offset_, call.locator->least_offset);
  }
  context->set_message(call.encoder);
  link_.counters().sends.add();
  link_.counters().call_bytes_payload.add(context->payload_bytes());
  link_.post(*context);
  return true;
}

std::size_t Requester::least_payload_offset() const {
  return placeable_ > 0 ? least_offset_ : SIZE_MAX;
}

void Requester::on_reply(CallContext& context, Received reply) {
  link_.counters().replies.add();
  link_.counters().reply_bytes_message.add(reply.bytes.size());
  link_.counters().reply_bytes_payload.add(reply.payload.value_or(0));
  ++replies_;
  context.reply = std::move(reply);
  context.answered = true;
  retire(context);
  complete_if_finished(context);
  pump();
}

/// Nothing more comes for this call.
void Requester::retire(CallContext& context) {
  if (suspect_ == &context) suspect_ = nullptr;
  open_.remove(context);
  --in_flight_;
  if (is_placeable(*context.call)) --placeable_;
}

void Requester::on_sent(CallContext& context) {
  context.sent = true;
  complete_if_finished(context);
}

void Requester::complete_if_finished(CallContext& context) {
  if (context.finished()) complete(context);
}

void Requester::complete(CallContext& context) {
  rpc::Call& call = *context.call;
  if (context.error) {
    call.reply = fail(std::move(*context.error));
  } else {
    call.reply = decode_reply(context);
  }
  if (call.urgency == rpc::Urgency::ordinary) --ordinary_;
  context.in_use.unlink();
  pools_.contexts->give_back(context);
  call.observer->on_call_done(call);
}

void Requester::on_down() {
  const Error reason = link_.reason();
  const CallContext* blamed = poison_call_ ? poison_call_ : suspect_;
  in_use_.for_each([&](CallContext::InUse& node) {
    CallContext& context = node.context;
    assert(!context.linked() && "the writer has let go of everything");
    context.sent = true;
    if (context.answered) return;
    note_loss(context, blamed, reason);
    context.error = net::as_loss(reason);
    context.answered = true;
    retire(context);
    link_.counters().failed_calls.add();
  });
  suspect_ = poison_call_ = nullptr;
  while (!in_use_.empty()) complete(in_use_.front().context);
  while (rpc::Call* call = queue_.pop()) {
    link_.counters().failed_calls.add();
    call->reply = fail(net::as_loss(reason));
    call->observer->on_call_done(*call);
  }
}

}  // namespace nfsrdma::tcp
