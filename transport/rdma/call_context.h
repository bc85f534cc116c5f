// The transport's side of one open Call: its header, its exposures, and what became of it. Pooled
// for as long as the server is used; all of it fits in the pool's objects, so that a Call allocates
// nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "transport/base/buffer.h"
#include "transport/base/object_pool.h"
#include "transport/rdma/call_plan.h"
#include "transport/rdma/lease_set.h"
#include "transport/rdma/link.h"
#include "transport/rdma/receive_pool.h"
#include "transport/rpc/call_context.h"

namespace nfsrdma::rdma {

class Requester;

/// The contents of a good reply. The bytes are in the message or in the Reply chunk.
struct ReplyShape {
  /// Bytes that the server put into result_sink; nothing when no Write chunk was offered.
  std::optional<std::size_t> placed;
  /// Bytes of the RPC message in the Reply chunk (RDMA_NOMSG); nothing when it came inline.
  std::optional<std::size_t> long_reply;
};

/// Life: taken from the pool -> posted (Send, leases bound) -> answered or failed -> leases
/// invalidated and Send done, in any order -> back to the pool. It goes back only when the Call has
/// ended, its Send is done (I4), and every lease is free (I3, I5).
class CallContext final : public rpc::CallContext, public SendOwner {
 public:
  explicit CallContext(Buffer header);
  void reset();

  void on_send_done() override;

  /// Where the header is encoded. The last word of the memory behind it stays zero: pads of a
  /// Position Zero chunk are taken from there.
  std::span<std::byte> header_memory() const { return header_.first(header_.size() - xdr::kUnit); }
  std::span<std::byte> zeros() const { return header_.bytes().last(xdr::kUnit); }

  /// Nothing is exposed, no Send is out, and a reply or error is known.
  bool finished() const { return answered && bound_leases == 0 && sent; }

  Requester* requester = nullptr;
  CallPlan plan;
  LeaseSet leases;
  std::size_t write_from = 0;  ///< index of the Write chunk's first lease
  std::size_t reply_from = 0;  ///< index of the Reply chunk's first lease
  std::optional<Buffer> reply_chunk;

  std::size_t bound_leases = 0;
  rpc::MessageRef message;  ///< the reply; null when `error` is set
  std::span<const std::byte> inline_message;
  ReplyShape shape;

 private:
  Buffer header_;
};

using CallContextPool = ObjectPool<CallContext>;

}  // namespace nfsrdma::rdma
