// The transport's side of one open Call: the record that carries it, and what became of it. Pooled
// for as long as the server is used, so that a Call allocates nothing.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "transport/base/buffer.h"
#include "transport/base/intrusive_list.h"
#include "transport/base/result.h"
#include "transport/rpc/call.h"
#include "transport/tcp/record_writer.h"

namespace nfsrdma::tcp {

class Requester;

/// A message as it was received.
struct Received {
  rpc::MessageRef message;
  std::optional<Buffer> large;         ///< holds the bytes of one that did not fit `message`
  std::span<const std::byte> bytes;    ///< of the RPC message, without what was placed elsewhere
  std::optional<std::size_t> payload;  ///< bytes that were received into the call's result_sink
};

/// Life: taken from the pool -> being sent -> answered or failed, and sent, in any order -> back to
/// the pool. I4: it goes back, and its Call ends, only when the kernel has all its bytes and the
/// Call has its reply, or when the connection is gone.
class CallContext final : public Outgoing {
 public:
  /// Its place in the requester's list; the base class is in the writer's.
  struct InUse : ListNode {
    explicit InUse(CallContext& the_context) : context(the_context) {}
    CallContext& context;
  };

  CallContext() : in_use(*this) {}
  void on_sent() override;
  bool finished() const { return answered && sent; }

  Requester* requester = nullptr;
  rpc::Call* call = nullptr;
  InUse in_use;
  CallContext* next_in_bucket = nullptr;  ///< of the XID table
  bool sent = false;
  bool answered = false;
  Received reply;  ///< when there is no error
  std::optional<Error> error;

 private:
  friend class CallContextPool;
  void reset();
};

/// I5: holds only contexts without any work outstanding.
class CallContextPool {
 public:
  explicit CallContextPool(std::size_t count);

  CallContext* take();
  void give_back(CallContext& context);
  std::size_t in_use() const { return in_use_; }

 private:
  std::vector<std::unique_ptr<CallContext>> contexts_;
  std::vector<CallContext*> free_;
  std::size_t in_use_ = 0;
};

}  // namespace nfsrdma::tcp
