// Remembered attributes to what stat(2) shows.
#pragma once

#include <sys/stat.h>

#include "cache/attr/file_attributes.h"

namespace nfsrdma::fuse {

/// `root`: the mount's own file system. Files of other file systems of the server get an st_ino
/// made of both ids, because all of them share one st_dev.
struct stat to_stat(const cache::FileAttributes& attributes, const cache::FileSystemId& root);

/// st_ino as to_stat() makes it.
std::uint64_t inode_number(std::uint64_t fileid, const cache::FileSystemId& of,
                           const cache::FileSystemId& root);

}  // namespace nfsrdma::fuse
