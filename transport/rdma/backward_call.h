// A callback from the server on its way through this side (RFC 8167), and the pool of them.
#pragma once

#include <span>

#include "transport/base/object_pool.h"
#include "transport/rdma/header.h"
#include "transport/rdma/link.h"
#include "transport/rpc/backward_responder.h"

namespace nfsrdma::rdma {

class BackwardResponder;

/// Also used to send an RDMA_ERROR, without a message.
class BackwardCallSlot final : public rpc::BackwardSlot<BackwardCallSlot, BackwardResponder>,
                               public SendOwner {
 public:
  using BackwardSlot::BackwardSlot;
  void answer(rpc::AcceptStat status) override;
  void on_send_done() override { done(); }

 private:
  friend class BackwardResponder;

  /// Room for a header without chunks in front of the RPC message.
  std::span<std::byte> header_memory() const { return memory_.first(kMinHeader); }
};

using BackwardCallPool = ObjectPool<BackwardCallSlot>;

}  // namespace nfsrdma::rdma
