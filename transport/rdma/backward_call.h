// A callback from the server on its way through this side (RFC 8167), and the pool of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "transport/base/buffer.h"
#include "transport/base/intrusive_list.h"
#include "transport/rdma/header.h"
#include "transport/rdma/link.h"
#include "transport/rpc/received_backward_call.h"

namespace nfsrdma::rdma {

class BackwardResponder;
class BackwardCallPool;

/// Life: taken from the pool -> dispatched (holds its message, I2) -> answered: the reply is posted
/// -> its Send is done (I4) -> back to the pool. When the connection is lost meanwhile, the answer
/// only gives the object back. Also used to send an RDMA_ERROR, without a message.
class BackwardCallSlot final : public rpc::ReceivedBackwardCall, public SendOwner, public ListNode {
 public:
  BackwardCallSlot(BackwardCallPool& pool, Buffer memory);

  void answer(rpc::AcceptStat status) override;
  void on_send_done() override;

 private:
  friend class BackwardResponder;
  friend class BackwardCallPool;

  /// Room for a header without chunks in front of the RPC message.
  std::span<std::byte> header_memory() const { return memory_.first(kMinHeader); }
  /// To send an RDMA_ERROR, `call` is empty and `message` null.
  void start(BackwardResponder& responder, std::uint32_t xid, std::span<const std::byte> call,
             rpc::MessageRef message);

  BackwardCallPool& pool_;
  Buffer memory_;
  BackwardResponder* responder_ = nullptr;  // null once its connection is gone
  bool sending_ = false;
};

class BackwardCallPool {
 public:
  /// Takes `count` buffers of `memory` for the replies.
  BackwardCallPool(BufferPool& memory, std::size_t count);

  BackwardCallSlot* take();
  /// I4, I5: no Send of the slot is outstanding.
  void give_back(BackwardCallSlot& slot);
  std::size_t in_use() const { return in_use_; }

 private:
  std::vector<std::unique_ptr<BackwardCallSlot>> slots_;
  IntrusiveList<BackwardCallSlot> free_;
  std::size_t in_use_ = 0;
};

}  // namespace nfsrdma::rdma
