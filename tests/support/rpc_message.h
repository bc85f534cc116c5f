// RPC message headers as tests need them beyond transport/rpc/message.h.
#pragma once

#include "transport/rpc/message.h"

namespace nfsrdma::rpc {

/// Bytes that encode_call_header writes at most.
constexpr std::size_t max_call_header() {
  constexpr std::size_t fixed_words = 6 + 2 + 2;  // header, credential and verifier heads
  return fixed_words * xdr::kUnit + kMaxAuthBody;
}

/// MSG_DENIED, AUTH_ERROR with an auth_stat of RFC 5531 section 9.
inline void encode_auth_error(xdr::Encoder& out, std::uint32_t xid, std::uint32_t auth_stat) {
  constexpr std::uint32_t kAuthError = 1;  // reject_stat
  out.u32(xid);
  out.u32(static_cast<std::uint32_t>(MessageType::reply));
  out.u32(static_cast<std::uint32_t>(ReplyStat::denied));
  out.u32(kAuthError);
  out.u32(auth_stat);
}

}  // namespace nfsrdma::rpc
