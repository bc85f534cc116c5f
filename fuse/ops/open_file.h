// What OPEN and CREATE have in common: a server's open becomes an open file of the kernel.
#pragma once

#include "client/ops/open.h"
#include "fuse/ops/file_system.h"

namespace nfsrdma::fs {

/// Makes the open file and fills in `info` for the answer: its number, and whether the kernel may
/// keep the pages it has cached. Close-to-open: it may if the change attribute is the one they
/// belong to; attributes that the kernel has cached are dropped if they are out of date.
FileRef open_file(FileSystem& fs, InodeRef inode, client::Opened opened, const cache::Issue& issue,
                  fuse_file_info& info);

/// The same for an open whose attributes are known already.
FileRef add_open_file(FileSystem& fs, InodeRef inode, client::OpenRef open, bool preserve_unlinked,
                      fuse_file_info& info);

/// Nobody took the answer: closes the file again.
Task<void> forget_open(FileSystem& fs, FileRef file);

}  // namespace nfsrdma::fs
