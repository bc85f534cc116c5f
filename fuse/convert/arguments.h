// Arguments of system calls, as FUSE passes them on, to those of NFS operations.
#pragma once

#include <linux/fuse.h>
#include <sys/statvfs.h>

#include <cstdint>

#include "client/requests/set_attributes.h"
#include "client/requests/statfs.h"

namespace nfsrdma::fuse {

/// open(2) flags to OPEN4_SHARE_ACCESS_*.
std::uint32_t to_share_access(int open_flags);

/// FATTR_* `valid` bits and their values.
client::SetAttributes to_set_attributes(const fuse_setattr_in& wanted);

/// access(2) mask to ACCESS4_*.
std::uint32_t to_access4(int mask, bool directory);

/// `block`: what sizes are counted in, bytes.
struct statvfs to_statvfs(const client::FileSystemStatus& status, std::uint32_t block);

}  // namespace nfsrdma::fuse
