// Logging that never holds up who logs.
#pragma once

#include <chrono>

namespace nfsrdma::log {

/// From now on lines are written by a thread of its own, and the caller never waits for whoever
/// takes them: a terminal, a pipe that nobody reads, a syslogd whose own file lies on the mount
/// that logs. When too many wait the oldest are lost, and the log says so. After configure()
/// and any fork(); before the process ends: finish().
void write_beside();

/// Waits until all lines are written, but not much longer than `patience`.
void finish(std::chrono::milliseconds patience);

}  // namespace nfsrdma::log
