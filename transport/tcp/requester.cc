#include "transport/tcp/requester.h"

#include <algorithm>
#include <cassert>
#include <cerrno>

#include "transport/rpc/message.h"
#include "transport/tcp/receive_path.h"

namespace nfsrdma::tcp {
namespace {

/// Whether the reply may have a payload that must not be copied.
bool is_placeable(const rpc::Call& call) {
  return call.locator && call.result_sink.size() > kCopyAtMost;
}

/// Calls are bounded by the session's ca_maxrequestsize; these are the bounds of this transport.
Result<void> check(const rpc::Call& call, const Pools& pools) {
  if (call.encoder.message_size() > RecordMark::kMaxLength) {
    return fail(Error::local(EMSGSIZE, "RPC call", "it does not fit one record fragment"));
  }
  if (call.max_reply > pools.large.slot_size()) {
    return fail(Error::local(EMSGSIZE, "RPC call", "its reply could be too large"));
  }
  return {};
}

}  // namespace

rpc::Sent Requester::send(rpc::Call& call) {
  if (auto fits = check(call, pools_); !fits) return refuse(call, std::move(fits.error()));
  CallContext* context = pools_.contexts->take();
  if (!context) return rpc::Sent::wait;
  context->requester = this;
  context->call = &call;
  open(*context);
  ++window_.open;
  if (call.urgency == rpc::Urgency::ordinary) ++window_.ordinary;
  if (is_placeable(call)) {
    ++placeable_;
    least_offset_ = std::min(least_offset_, call.locator->least_offset);
  }
  context->set_message(call.encoder);
  link_.counters().sends.add();
  link_.counters().call_bytes_payload.add(context->payload_bytes());
  if (call.losses.total != 0) link_.comment(rpc::kSentAgain);
  if (call.urgency == rpc::Urgency::reserved) {
    link_.post_urgent(*context);
  } else {
    link_.post(*context, call.pace);
  }
  return rpc::Sent::yes;
}

void Requester::on_reply(CallContext& context, Received reply) {
  link_.counters().replies.add();
  link_.counters().reply_bytes_message.add(reply.bytes.size());
  link_.counters().reply_bytes_payload.add(reply.payload.value_or(0));
  context.reply = std::move(reply);
  retire(context);
  finish_reply(context);
}

void Requester::on_retired(CallContext& context) {
  --window_.open;
  if (is_placeable(*context.call)) --placeable_;
}

void Requester::release([[maybe_unused]] CallContext& context) {
  assert(!context.Outgoing::linked() && "the writer has let go of everything");
}

Result<rpc::Reply> Requester::decode(CallContext& context) {
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

void Requester::on_ending(CallContext& context) {
  if (context.call->urgency == rpc::Urgency::ordinary) --window_.ordinary;
}

}  // namespace nfsrdma::tcp
