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
#include "transport/rpc/channel.h"

namespace nfsrdma::rdma {

class BackwardResponder;
class BackwardCallPool;

/// Life: taken from the pool -> dispatched (holds its message, I2) -> answered: the reply is posted
/// -> its Send is done (I4) -> back to the pool. When the connection is lost meanwhile, the answer
/// only gives the object back. Also used to send an RDMA_ERROR, without a message.
class BackwardCallSlot final : public rpc::BackwardCall, public SendOwner, public ListNode {
 public:
  BackwardCallSlot(BackwardCallPool& pool, Buffer memory);

  const rpc::CallHeader& header() const override { return header_; }
  xdr::Decoder& arguments() override { return arguments_; }
  xdr::Encoder& results() override { return results_; }
  void answer(rpc::AcceptStat status) override;
  void on_send_done() override;

 private:
  friend class BackwardResponder;
  friend class BackwardCallPool;

  /// Room for a header without chunks in front of the RPC message.
  std::span<std::byte> header_memory() const { return memory_.first(kMinHeader); }
  void start(BackwardResponder& responder, rpc::MessageRef message, std::size_t max_message);

  BackwardCallPool& pool_;
  Buffer memory_;
  BackwardResponder* responder_ = nullptr;  // null once its connection is gone
  rpc::MessageRef message_;
  rpc::CallHeader header_;
  xdr::Decoder arguments_;
  xdr::Encoder results_;
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
