// Receive buffers on loan: those that wait to be posted, and those that the device has. They are
// posted many at a time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "transport/base/intrusive_list.h"
#include "transport/base/result.h"
#include "transport/fabric/fabric.h"
#include "transport/fabric/verbs/counters.h"
#include "transport/fabric/verbs/memory_regions.h"

namespace nfsrdma::fabric::verbs {

class ReceiveQueue {
 public:
  explicit ReceiveQueue(Counters& counters) : counters_(counters) {}
  ~ReceiveQueue() { release_all(); }

  /// Takes the buffer on loan; the next post() hands it to the device.
  void lend(ReceiveBuffer& buffer);
  /// Posts waiting buffers, as far as the queue of `depth` has room.
  Result<void> post(ibv_qp* queue_pair, std::size_t depth, const MemoryRegions& regions);
  /// The buffer whose receive completed. It is its owner's again.
  ReceiveBuffer& complete(std::uint64_t id);
  /// Gives everything back.
  void release_all();

 private:
  Counters& counters_;
  IntrusiveList<ReceiveBuffer> waiting_;
  IntrusiveList<ReceiveBuffer> posted_;
  std::size_t out_ = 0;
};

}  // namespace nfsrdma::fabric::verbs
