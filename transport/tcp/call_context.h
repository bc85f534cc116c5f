// The transport's side of one open Call: the record that carries it, and what became of it. Pooled
// for as long as the server is used, so that a Call allocates nothing.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "transport/base/buffer.h"
#include "transport/base/object_pool.h"
#include "transport/rpc/call_context.h"
#include "transport/tcp/record_writer.h"

namespace nfsrdma::tcp {

class Requester;

/// A message as it was received.
struct Received {
  rpc::MessageRef message;
  std::optional<Buffer> large;         ///< holds the bytes of one that did not fit `message`
  std::span<const std::byte> bytes;    ///< of the RPC message, without placed bytes
  std::optional<std::size_t> payload;  ///< bytes that were received into the call's result_sink
};

/// Life: taken from the pool -> being sent -> answered or failed, and sent, in any order -> back to
/// the pool. I4: it goes back, and its Call ends, only when the kernel has all its bytes and the
/// Call has its reply, or when the connection is gone.
class CallContext final : public rpc::CallContext, public Outgoing {
 public:
  void on_sent() override;
  bool finished() const { return answered && sent; }
  void reset();

  Requester* requester = nullptr;
  Received reply;  ///< when there is no error
};

using CallContextPool = ObjectPool<CallContext>;

}  // namespace nfsrdma::tcp
