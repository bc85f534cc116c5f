// The end of an open file.
#pragma once

#include "fuse/ops/file_system.h"

namespace nfsrdma::fuse {

/// Commits what is left, gives the open back, and with the last one removes the silly name. The
/// kernel must not know the file's number any more (FileSystem::remove_file).
Task<void> close_file(FileSystem& fs, FileRef file);

}  // namespace nfsrdma::fuse
