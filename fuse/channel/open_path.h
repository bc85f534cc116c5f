// The name of a file that a process has open, for the log.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace nfsrdma::fuse {

/// Where below `mount_point` the thread `pid` has a file open whose inode number is `fileid`, by
/// /proc. Empty where it has none among its first descriptors, or is hidden. Makes no request of
/// the mounted file system.
std::string path_of_open_file(pid_t pid, std::uint64_t fileid, std::string_view mount_point);

}  // namespace nfsrdma::fuse
