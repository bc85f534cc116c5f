// One work request on its way through the send queue.
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "transport/base/buffer.h"
#include "transport/fabric/fabric.h"

namespace nfsrdma::fabric::verbs {

enum class WorkKind : std::uint8_t { send, send_invalidate, write, read, bind, invalidate };

struct WorkItem {
  static constexpr std::size_t kMaxPieces = 8;

  WorkKind kind = WorkKind::send;
  bool signaled = false;  ///< asked for by its poster; the queue signals others, too
  bool over = false;      ///< its consumer was told already
  std::uint8_t pieces = 0;
  std::uint32_t handle = 0;  ///< the peer's key, or the key to bind or to invalidate
  std::uint64_t offset = 0;  ///< at the peer
  void* context = nullptr;   ///< of a Send or an RDMA Read
  Lease* lease = nullptr;    ///< bound or invalidated
  ibv_mw* window = nullptr;  ///< bound
  ibv_mr* region = nullptr;  ///< that the window is a part of
  std::array<ibv_sge, kMaxPieces> local;
  Buffer staged;  ///< a copy of pieces that could not be sent from where they are
};

}  // namespace nfsrdma::fabric::verbs
