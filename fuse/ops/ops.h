// The FUSE operations of an NFS mount.
#pragma once

#include <fuse_lowlevel.h>

namespace nfsrdma::fuse {

/// For KernelSession::create; the user data is a FileSystem. Locks and extended attributes are not
/// among them: the kernel keeps locks on this machine.
const fuse_lowlevel_ops& operations();

}  // namespace nfsrdma::fuse
