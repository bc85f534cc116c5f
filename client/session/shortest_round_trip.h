// How long the server takes to answer when nothing is in its way.
#pragma once

#include <algorithm>
#include <cstdint>

#include "transport/base/reactor.h"

namespace nfsrdma::client {

/// The shortest of the last round trips, 64 to 128 of them: what was served slowly, or found this
/// program busy, does not make it longer. Belongs to one shard.
class ShortestRoundTrip {
 public:
  /// One request was answered after `took`.
  void note(Duration took) {
    present_ = std::min(present_, took);
    if (++noted_ < kOneRow) return;
    noted_ = 0;
    before_ = present_;
    present_ = Duration::max();
  }
  /// Zero: none is known.
  Duration value() const {
    const Duration shortest = std::min(present_, before_);
    return shortest == Duration::max() ? Duration::zero() : shortest;
  }

 private:
  static constexpr std::uint32_t kOneRow = 64;

  Duration present_ = Duration::max();
  Duration before_ = Duration::max();  ///< of the row before
  std::uint32_t noted_ = 0;
};

}  // namespace nfsrdma::client
