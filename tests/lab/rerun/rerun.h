// Runs the client on a recording.
#pragma once

#include <cstddef>

#include "tests/lab/rerun/playback.h"

namespace nfsrdma::lab::rerun {

struct Outcome {
  std::size_t entries = 0;
  TimePoint first{0};
  TimePoint last{0};
};

/// The daemon's client, cache and file system, with the recording for kernel, server, clock and all
/// else. Returns when the recording has no more; everything is left as it was then, for a debugger:
/// what is in flight has no end, and nothing is destroyed. `on_difference` does not return. An
/// error where the recording's head makes no mount.
Result<Outcome> run_again(const Recording& recording, OnDifference on_difference);

}  // namespace nfsrdma::lab::rerun
