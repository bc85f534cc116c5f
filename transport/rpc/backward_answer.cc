#include "transport/rpc/backward_answer.h"

namespace nfsrdma::rpc {
namespace {

/// NFSv4 callback versions that peers use: 1 of RFC 5662, 4 of the text of RFC 8881 (F-24).
constexpr std::uint32_t kLowestCallbackVersion = 1;
constexpr std::uint32_t kHighestCallbackVersion = 4;

}  // namespace

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
