// Rules of RPC-over-RDMA, versions 1 and 2, and of its bindings: each message by its header.
#pragma once

#include <span>

#include "tests/lab/capture/conversation.h"
#include "tests/lab/lint/rule.h"

namespace nfsrdma::lab {

struct MessageEvent {
  const MessageSeen& seen;
  const Conversation& conversation;
};

/// Of any message; of those whose header decodes, of calls, of replies to an open call.
std::span<const Rule<MessageEvent>> message_rules();
std::span<const Rule<MessageEvent>> call_rules();
std::span<const Rule<MessageEvent>> reply_rules();
std::span<const Rule<MessageEvent>> returned_chunk_rules();

}  // namespace nfsrdma::lab
