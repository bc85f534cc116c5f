// Remembered attributes to what stat(2) shows.
#pragma once

#include <sys/stat.h>

#include "cache/attr/file_attributes.h"

namespace nfsrdma::fuse {

/// `root`: the mount's own file system. Files of other file systems of the server get an st_ino
/// made of both ids, because all of them share one st_dev.
struct stat to_stat(const cache::FileAttributes& attributes, const cache::FileSystemId& root);

/// The number of a file of which the server tells none: as libfuse has it (FUSE_UNKNOWN_INO).
inline constexpr std::uint64_t kUnknownInode = 0xffffffff;

/// st_ino as to_stat() makes it. Never 0: readdir(3) passes over a name with that number (glibc
/// before 2.37).
std::uint64_t inode_number(std::uint64_t fileid, const cache::FileSystemId& of,
                           const cache::FileSystemId& root);

}  // namespace nfsrdma::fuse
