// The common part of OPEN and CREATE: an open at the server becomes an open file of the kernel.
#pragma once

#include "cache/file/open.h"
#include "fuse/ops/file_system.h"

namespace nfsrdma::fuse {

/// Makes the open file, whose attributes are known, and fills in the answer: its number,
/// and whether the kernel may keep the pages it has cached.
FileRef add_open_file(FileSystem& fs, cache::Opened opened, int flags, OpenAnswer& answer);

/// The kernel did not take the answer: closes the file again.
Task<void> forget_open(FileSystem& fs, FileRef file);

}  // namespace nfsrdma::fuse
