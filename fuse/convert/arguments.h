// Arguments of system calls, as FUSE passes them on, to those of NFS operations.
#pragma once

#include <linux/fuse.h>
#include <sys/statvfs.h>

#include "cache/file/queries.h"
#include "cache/write/set_attributes.h"

namespace nfsrdma::fuse {

/// FATTR_* `valid` bits and their values.
client::SetAttributes to_set_attributes(const fuse_setattr_in& wanted);

/// Attributes of a file system, as cache::statfs() has them.
struct statvfs to_statvfs(const client::Attributes& status);

}  // namespace nfsrdma::fuse
