// Requests as they end.
#pragma once

#include "fuse/ctl/command_line.h"

namespace nfsrdma::ctl {

/// Prints after each interval the requests that have ended in it, line.count times; 0: until no
/// mount answers any more. Returns the exit status. Blocks.
int follow_ended(const CommandLine& line);

}  // namespace nfsrdma::ctl
