// Settings that the kernel needs for a process that serves a file system.
#pragma once

namespace nfsrdma::fuse {

/// Keeps allocations of this process from waiting for its own mount, and the process from being
/// killed before others when memory runs out. Only root may (CAP_SYS_RESOURCE); without effect for
/// others. Before there is another thread.
void guard_process();

}  // namespace nfsrdma::fuse
