// Calls that were sent, and what came back, as values that expectations look into.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "tests/lab/text/node.h"
#include "tests/lab/wire/header.h"
#include "tests/lab/wire/peer.h"

namespace nfsrdma::lab {

/// A call that was sent, and its memory.
struct SentCall {
  std::uint32_t xid = 0;
  Bytes message;  ///< all of it, header included
  /// Segments of each Write chunk and of the Reply chunk; null for one that is not this side's.
  std::vector<std::vector<Exposed*>> writes;
  std::vector<Exposed*> reply;
};

/// What kind of message it is.
enum class MessageKind : std::uint8_t { reply, call, unreadable };

struct Sorted {
  MessageKind kind = MessageKind::unreadable;
  std::uint32_t xid = 0;
};
/// Tells by the header and the first words of an RPC message whose it is.
Sorted sort_message(std::span<const std::byte> message, Carrier carrier);

/// A reply as a record:
///   {xid=7 vers=1 credits=32 proc=MSG write=[{length=512 segments=1}] reply_chunk={...}
///    invalidated=0x1 bytes=120 accept=success status=NFS4_OK tag="" SEQUENCE={...} READ={...}}
/// Over TCP without what RDMA brings. RDMA_ERROR has error=ERR_VERS low=1 high=1. `call` is the
/// call that it answers, or null: then results in chunks are not looked at.
Node describe_reply(const Arrived& reply, const SentCall* call, Carrier carrier);

/// A message of the server that is no reply: {xid=3 credits=1 proc=MSG procedure=1
/// CB_SEQUENCE={...}}.
Node describe_callback(const Arrived& call, Carrier carrier);
/// An answer that is right: NFS4_OK for each operation. Empty for what cannot be answered.
Bytes answer_callback(const Arrived& call, Carrier carrier);

}  // namespace nfsrdma::lab
