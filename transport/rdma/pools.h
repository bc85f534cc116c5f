// The memory of the transport to one server. It outlives connections: replies may view buffers long
// after theirs is gone, and callbacks may be answered into nothing.
#pragma once

#include <memory>

#include "transport/base/buffer.h"
#include "transport/base/result.h"
#include "transport/rdma/backward_call.h"
#include "transport/rdma/call_context.h"
#include "transport/rdma/control_sender.h"
#include "transport/rdma/options.h"
#include "transport/rdma/receive_pool.h"

namespace nfsrdma::rdma {

struct Pools {
  /// Everything but the Reply chunks, sized by the options.
  static Result<std::unique_ptr<Pools>> create(const Options& options, BufferPool& reply_chunks);
  /// Makes all of it usable with a provider.
  Result<void> register_with(fabric::Fabric& fabric);

  std::unique_ptr<BufferPool> send_memory;
  std::unique_ptr<ReceivePool> receives;
  std::unique_ptr<CallContextPool> contexts;
  std::unique_ptr<BackwardCallPool> backward;
  std::unique_ptr<ControlPool> control;  ///< null where only version 1 is spoken
  BufferPool& reply_chunks;              ///< the owner's: one slot for each Reply chunk

 private:
  explicit Pools(BufferPool& replies) : reply_chunks(replies) {}
};

}  // namespace nfsrdma::rdma
