// Making written data durable: COMMIT, sending lost data again, and doing so early when the memory
// for uncommitted data fills up.
#pragma once

#include "fuse/ops/file_system.h"

namespace nfsrdma::fuse {

/// Makes durable what was written to the file before the call, by anyone here. What fails is
/// recorded in the file's errors. Returns when nothing more can be done.
Task<void> commit_file(FileSystem& fs, FileRef file);

/// Commits files until there is room again. Does nothing while another run is under way.
Task<void> relieve(FileSystem& fs);

/// One of the file's writable opens; null when there is none.
FileRef any_writer(OpenInode& open);

/// Has the file among those with uncommitted data, or not, as is the case.
void list_uncommitted(FileSystem& fs, OpenInode& open);

}  // namespace nfsrdma::fuse
