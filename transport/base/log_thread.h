// Logging that never blocks the thread that logs.
#pragma once

#include <chrono>

namespace nfsrdma::log {

/// From now on a thread of its own writes the lines, so that the caller never waits for their
/// reader: a terminal, a full pipe, a syslogd whose own file lies on the mount that logs. When too
/// many lines wait, the oldest are dropped and the log says so. Where no thread can be started the
/// caller goes on writing itself. After configure() and any fork(); before the process ends:
/// finish().
void write_beside();

/// Waits until all lines are written, but not much longer than `patience`.
void finish(std::chrono::milliseconds patience);

}  // namespace nfsrdma::log
