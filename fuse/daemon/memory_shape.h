// How much memory a mount sets aside. An RDMA device has all of it locked, and RLIMIT_MEMLOCK may
// allow less than is wanted.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "transport/base/result.h"
#include "transport/fabric/verbs/verbs.h"

namespace nfsrdma::fuse {

struct MemoryShape {
  /// What a mount can work with, however slowly: it fits into the 8 MiB that ordinary users
  /// may usually lock. One slot is for sending lost data again, one may keep uncommitted data.
  static constexpr std::size_t kLeastDataSlots = 4;
  static constexpr std::size_t kLeastReplySlots = 1;
  static constexpr std::uint32_t kLeastCredits = 4;

  /// Requests being received, data being read, and written data that is kept until it is committed.
  std::size_t data_slots = 128;
  /// Large directories and the like come as Reply chunks, or with TCP as long messages.
  std::size_t reply_slots = 16;
  std::uint32_t credits = 0;  ///< RPCs in progress at once

  /// Half of everything, but not less than the least. False: this is the least.
  bool halve() {
    const MemoryShape before = *this;
    data_slots = std::max(data_slots / 2, std::min(data_slots, kLeastDataSlots));
    reply_slots = std::max(reply_slots / 2, std::min(reply_slots, kLeastReplySlots));
    credits = std::max(credits / 2, std::min(credits, kLeastCredits));
    return *this != before;
  }
  /// The same, but no more than `most` and no less than the least.
  MemoryShape within(const MemoryShape& most) const {
    return {std::clamp(data_slots, std::min(most.data_slots, kLeastDataSlots), most.data_slots),
            std::clamp(reply_slots, std::min(most.reply_slots, kLeastReplySlots), most.reply_slots),
            std::clamp(credits, std::min(most.credits, kLeastCredits), most.credits)};
  }
  bool operator==(const MemoryShape&) const = default;
};

/// Calls `attempt`, a function without arguments that returns Result<void>, with smaller and
/// smaller shapes until locked memory is no longer what it lacks. The last error when even the
/// least does not fit.
template <class Attempt>
Result<void> fit_into_memory(MemoryShape& shape, Attempt attempt) {
  for (;;) {
    Result<void> done = attempt();
    if (done || !fabric::is_memory_limit(done.error()) || !shape.halve()) return done;
  }
}

}  // namespace nfsrdma::fuse
