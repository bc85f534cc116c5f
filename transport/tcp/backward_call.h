// A callback from the server on its way through this side, and the pool of them.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "transport/base/buffer.h"
#include "transport/rpc/received_backward_call.h"
#include "transport/tcp/call_context.h"
#include "transport/tcp/record_writer.h"

namespace nfsrdma::tcp {

class BackwardResponder;
class BackwardCallPool;

/// Life: taken from the pool -> dispatched (holds its message, I2) -> answered -> the kernel has
/// taken the reply (I4) -> back to the pool. When the connection is lost meanwhile, the answer only
/// gives the object back.
class BackwardCallSlot final : public rpc::ReceivedBackwardCall, public Outgoing {
 public:
  /// Its place in the responder's list; the base class is in the writer's.
  struct InUse : ListNode {
    explicit InUse(BackwardCallSlot& the_slot) : slot(the_slot) {}
    BackwardCallSlot& slot;
  };

  BackwardCallSlot(BackwardCallPool& pool, Buffer memory);

  void answer(rpc::AcceptStat status) override;
  void on_sent() override;

 private:
  friend class BackwardResponder;
  friend class BackwardCallPool;

  void start(BackwardResponder& responder, std::uint32_t xid, Received call);

  BackwardCallPool& pool_;
  Buffer memory_;
  InUse in_use_;
  BackwardResponder* responder_ = nullptr;  // null once its connection is gone
  bool answered_ = false;
};

class BackwardCallPool {
 public:
  /// Takes `count` buffers of `memory` for the replies.
  BackwardCallPool(BufferPool& memory, std::size_t count);

  BackwardCallSlot* take();
  /// I4, I5: its reply is not being sent.
  void give_back(BackwardCallSlot& slot);
  std::size_t in_use() const { return in_use_; }

 private:
  std::vector<std::unique_ptr<BackwardCallSlot>> slots_;
  std::vector<BackwardCallSlot*> free_;
  std::size_t in_use_ = 0;
};

}  // namespace nfsrdma::tcp
