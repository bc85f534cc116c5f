// What OPEN and CREATE have in common: a server's open becomes an open file of the kernel.
#pragma once

#include "client/files/open.h"
#include "fuse/ops/file_system.h"

namespace nfsrdma::fuse {

/// Drops pages of another version than the remembered attributes are of. The kernel would drop them
/// itself at an open that says so, but not before others may be told the size that does not go with
/// them; where it looks at size and mtime by itself (acregmin=0) it is left to that.
Task<void> drop_pages_before_open(FileSystem& fs, InodeRef inode);

/// Makes the open file, whose attributes are known, and fills in the answer: its number,
/// and whether the kernel may keep the pages it has cached. Close-to-open: it may if the change
/// attribute is the one they belong to; attributes that the kernel has cached are dropped if they
/// are out of date.
FileRef add_open_file(FileSystem& fs, InodeRef inode, client::OpenRef open, bool preserve_unlinked,
                      int flags, OpenAnswer& answer);

/// Nobody took the answer: closes the file again.
Task<void> forget_open(FileSystem& fs, FileRef file);

}  // namespace nfsrdma::fuse
