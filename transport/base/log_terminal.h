// Copies the first lines of the log to the terminal, for a user who waits there. Apart from log.h
// because only the command uses it.
#pragma once

namespace nfsrdma::log {

/// After configure(): lines go to standard error as well, until leave_terminal().
void follow_on_terminal();
/// Without effect unless lines are followed.
void leave_terminal();

}  // namespace nfsrdma::log
