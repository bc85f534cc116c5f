#include "transport/journal/messages.h"

namespace nfsrdma::journal {
namespace {

Body at(Place place) { return std::move(Body().u32(place.connection).u32(place.number)); }

Body& add_error(Body& body, const Error& error) {
  body.u32(static_cast<std::uint32_t>(error.layer)).u32(static_cast<std::uint32_t>(error.code));
  return body.string(error.step).string(error.detail).u32(error.xid).u32(error.slot);
}

}  // namespace

Body call_body(Place place, const rpc::Call& call) {
  Body body = at(place);
  body.opaque(call.encoder.encoded());
  body.u32(static_cast<std::uint32_t>(call.encoder.omitted().size()));
  for (const xdr::OmittedItem& item : call.encoder.omitted()) {
    body.u64(item.offset).u64(item.data.size()).u64(hash_of(item.data));
  }
  body.u64(call.result_sink.size()).u64(call.max_reply);
  return body;
}

Body call_done_body(Place place, const rpc::Call& call) {
  Body body = at(place);
  body.u32(call.losses.total).u32(call.losses.same_fault);
  body.u32(static_cast<std::uint32_t>(call.losses.last_fault));
  if (!call.reply || !*call.reply) {
    body.u32(0);
    return add_error(body, call.reply ? call.reply->error() : Error());
  }
  const xdr::Decoder& results = (*call.reply)->results;
  body.u32(1).opaque(results.message());
  body.u32(static_cast<std::uint32_t>(results.placed().size()));
  for (const xdr::PlacedItem& item : results.placed()) {
    body.u32(item.data.data() == nullptr ? 0 : 1).u32(item.pad_included ? 1 : 0);
    body.opaque(item.data);
  }
  return body;
}

Body callback_body(Place place, rpc::BackwardCall& call) {
  Body body = at(place);
  return std::move(body.opaque(call.arguments().message()));
}

Body callback_answer_body(Place place, rpc::AcceptStat status, const xdr::Encoder& results) {
  Body body = at(place);
  body.u32(static_cast<std::uint32_t>(status));
  return std::move(body.opaque(results.encoded()));
}

Body channel_up_body(std::uint32_t connection, const rpc::ChannelLimits& limits) {
  Body body;
  body.u32(connection).u64(limits.max_backward_call).u64(limits.max_backward_reply);
  return std::move(body.u32(limits.max_backward_calls));
}

Body channel_error_body(std::uint32_t connection, const Error& error) {
  Body body;
  return std::move(add_error(body.u32(connection), error));
}

}  // namespace nfsrdma::journal
