// Registered buffers of a device's own, for messages in more pieces than the device takes or in
// memory that no pool has. RPC-over-RDMA sends none in the ordinary course of things, so that the
// first buffer is made when it is needed.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "transport/base/buffer.h"
#include "transport/base/result.h"
#include "transport/fabric/verbs/memory_regions.h"

namespace nfsrdma::fabric::verbs {

class Staging {
 public:
  /// A registered buffer of at least `size` bytes; not for payloads.
  Result<Buffer> acquire(std::size_t size, MemoryRegions& regions);

 private:
  std::vector<std::unique_ptr<BufferPool>> pools_;
};

}  // namespace nfsrdma::fabric::verbs
