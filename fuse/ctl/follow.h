// Requests as they end.
#pragma once

#include "fuse/ctl/command_line.h"

namespace nfsrdma::ctl {

/// Looks again after each interval and prints what has ended between, line.count times; 0: until
/// none of the mounts answers any more. The exit status. Blocks.
int follow_ended(const CommandLine& line);

}  // namespace nfsrdma::ctl
