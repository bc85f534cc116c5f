// RPC messages put together again: what went by RDMA back where it belongs (RFC 8166 sections 3.4
// and 3.5).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "tests/lab/capture/rpc_call.h"

namespace nfsrdma::lab {

/// A message as it would be without RDMA. `complete`: all that it says went by RDMA was seen to;
/// else it is short.
struct WholeMessage {
  std::vector<std::byte> bytes;
  bool complete = true;
  /// Replies: results could not be decoded as far as the data that was placed, whose place is a
  /// guess then: behind all others.
  bool guessed = false;
  /// Replies of NFSv4: results that could have gone by RDMA (RFC 8267 section 6.1) and did not.
  std::size_t inline_items = 0;
  /// Replies of NFSv4: what is wrong with the results and what was placed; empty: nothing.
  std::string fault;
};

/// `call` as far as its Read chunks were read.
WholeMessage whole_call(const RpcCall& call);

/// The reply to `call`, whose header is `header` and whose inline part is `payload`.
WholeMessage whole_reply(const RpcCall& call, const rdma::Header& header,
                         std::span<const std::byte> payload);

}  // namespace nfsrdma::lab
