// The exit codes of mount(8).
#pragma once

namespace nfsrdma::fuse {

enum ExitCode : int {
  kSuccess = 0,
  kUsage = 1,   ///< wrong command line, or no permission
  kSystem = 2,  ///< out of memory, cannot fork
  kInternalBug = 4,
  kInterrupted = 8,  ///< by the user, while mounting
  kMountFailure = 32,
};

}  // namespace nfsrdma::fuse
