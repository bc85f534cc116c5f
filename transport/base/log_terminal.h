// The beginning of a log, for somebody who waits at a terminal. Beside log.h, as only the command
// uses it.
#pragma once

namespace nfsrdma::log {

/// After configure(): lines go to standard error as well, until leave_terminal().
void follow_on_terminal();
/// Without effect unless lines are followed.
void leave_terminal();

}  // namespace nfsrdma::log
