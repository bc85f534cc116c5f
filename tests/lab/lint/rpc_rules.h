// Rules of RPC and of COMPOUND: each whole message by itself, and each reply by its call.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "tests/lab/capture/compound_seen.h"
#include "tests/lab/capture/conversation.h"
#include "tests/lab/lint/rule.h"

namespace nfsrdma::lab {

struct RpcEvent {
  const RpcSeen& seen;
  const Conversation& conversation;
  std::string header_fault;                    ///< not empty: the RPC header does not decode
  bool success = true;                         ///< replies: accepted, and SUCCESS
  std::optional<CompoundArguments> arguments;  ///< of a call of NFSv4
  std::optional<CompoundResults> results;      ///< of a reply to one
  const CompoundArguments* asked = nullptr;    ///< a reply's call
};

/// `asked`: what the call with this XID said, if it is known.
RpcEvent decode_rpc(const RpcSeen& seen, const Conversation& conversation,
                    const CompoundArguments* asked);

std::span<const Rule<RpcEvent>> rpc_rules();

}  // namespace nfsrdma::lab
