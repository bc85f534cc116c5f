#include "transport/rpc/backward_answer.h"

#include "transport/base/log.h"

namespace nfsrdma::rpc {
namespace {

/// NFSv4 callback versions that peers use: 1 of RFC 5662, 4 of the text of RFC 8881 (F-24).
constexpr std::uint32_t kLowestCallbackVersion = 1;
constexpr std::uint32_t kHighestCallbackVersion = 4;

}  // namespace

std::optional<AcceptStat> begin_backward_call(xdr::Decoder& arguments, CallHeader& header,
                                              xdr::Encoder& results) {
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
  log::warning("a callback cannot be decoded: {}", decoded.error().message());
  return AcceptStat::garbage_args;
}

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

}  // namespace nfsrdma::rpc
