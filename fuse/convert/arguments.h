// Arguments of system calls, as FUSE passes them on, to those of NFS operations.
#pragma once

#include <linux/fuse.h>
#include <sys/statvfs.h>

#include <cstdint>

#include "cache/file/queries.h"
#include "cache/write/set_attributes.h"

namespace nfsrdma::fuse {

/// FATTR_* `valid` bits and their values.
client::SetAttributes to_set_attributes(const fuse_setattr_in& wanted);

/// `block`: what sizes are counted in, bytes.
struct statvfs to_statvfs(const client::FileSystemStatus& status, std::uint32_t block);

}  // namespace nfsrdma::fuse
