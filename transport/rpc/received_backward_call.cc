#include "transport/rpc/received_backward_call.h"

#include <optional>
#include <utility>

namespace nfsrdma::rpc {
namespace {

/// NFSv4 callback versions that peers use: 1 of RFC 5662, 4 of the text of RFC 8881 (F-24).
constexpr std::uint32_t kLowestCallbackVersion = 1;
constexpr std::uint32_t kHighestCallbackVersion = 4;

/// Decodes the RPC header of a callback, from `arguments` into `header`. Empty: the callback is for
/// its service, and `results` holds an accepted SUCCESS reply header. Else the status to answer at
/// once with; a version mismatch has its whole reply in `results` and is SUCCESS.
std::optional<AcceptStat> begin_backward_call(xdr::Decoder& arguments, CallHeader& header,
                                              xdr::Encoder& results, log::Limit& lines,
                                              TimePoint now) {
  auto decoded = decode_call_header(arguments);
  if (decoded) {
    header = *decoded;
    encode_accepted_reply(results, header.xid, AcceptStat::success);
    return std::nullopt;
  }
  if (decoded.error().is(Layer::rpc, static_cast<int>(Fault::rpc_mismatch))) {
    encode_rpc_mismatch(results, header.xid);
    return AcceptStat::success;
  }
  lines.warning(now, "a callback cannot be decoded: {}", decoded.error().message());
  return AcceptStat::garbage_args;
}

/// Completes `message`, which holds an accepted SUCCESS reply header and perhaps results: leaves it
/// as it is for SUCCESS, else makes it the reply that says `status`. Results that did not fit, or
/// have a DDP-eligible item (there is none in a callback, RFC 8267 section 6.5.2), are SYSTEM_ERR.
void finish_backward_answer(xdr::Encoder& message, std::uint32_t xid, AcceptStat status) {
  const bool sendable = message.ok() && message.omitted().empty();
  if (status == AcceptStat::success && sendable) return;
  message.rewind(0);
  if (status == AcceptStat::prog_mismatch) {
    encode_prog_mismatch(message, xid, kLowestCallbackVersion, kHighestCallbackVersion);
    return;
  }
  const bool failed = status == AcceptStat::success;
  encode_accepted_reply(message, xid, failed ? AcceptStat::system_err : status);
}

}  // namespace

void ReceivedBackwardCall::receive(std::uint32_t xid, std::span<const std::byte> call,
                                   MessageRef message, std::span<std::byte> reply) {
  message_ = std::move(message);
  header_ = {};
  header_.xid = xid;
  arguments_ = xdr::Decoder(call);
  results_ = xdr::Encoder(reply);
}

void ReceivedBackwardCall::dispatch(ChannelObserver& observer, log::Limit& lines, TimePoint now) {
  const auto refusal = begin_backward_call(arguments_, header_, results_, lines, now);
  if (refusal) {
    answer(*refusal);
  } else {
    observer.on_backward_call(*this);
  }
}

void ReceivedBackwardCall::finish(AcceptStat status) {
  finish_backward_answer(results_, header_.xid, status);
  message_.reset();
}

}  // namespace nfsrdma::rpc
