// A view of the present work of mounts.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "fuse/ctl/ask.h"
#include "fuse/ctl/counters.h"

namespace nfsrdma::ctl {

/// One look at the mounts that are watched; fails when none can be looked at any more.
using Look = std::function<Result<std::vector<std::pair<Mount, Counters>>>()>;

/// Prints after each `interval` the operations done in it, `times` times; 0: until a look
/// fails. A terminal is cleared before. Blocks. As JSON: a line with an array for each
/// look.
Result<void> top(const Look& look, std::chrono::milliseconds interval, unsigned times, bool json);

}  // namespace nfsrdma::ctl
