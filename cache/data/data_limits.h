// How much of a mount's memory for data its caches may use.
#pragma once

#include <cstddef>

namespace nfsrdma::cache {

struct DataLimits {
  /// Percent of the slots, by default and at most: requests and reads always find some.
  static constexpr unsigned kDirtyRatio = 50;
  static constexpr unsigned kMostDirty = 75;

  std::size_t read_ahead = 0;  ///< most bytes that are read ahead of one file; 0: none
  /// Percent of the slots that may have data which is gathered, in flight or not committed.
  unsigned dirty_ratio = kDirtyRatio;
};

}  // namespace nfsrdma::cache
