// A live mount gets other flags: `mount -o remount,ro`.
#pragma once

#include <string>

#include "fuse/options/remount.h"
#include "transport/base/result.h"

namespace nfsrdma::fuse {

/// Gives the mount of this program on `mount_point` other flags of mount(2). The kernel does that;
/// the process that serves the mount goes on and is not asked. An error where no such mount is, or
/// when a word that is no flag is not one of those that it was mounted with. Blocks until the
/// kernel has written what it has.
Result<void> remount(const std::string& source, const std::string& mount_point,
                     const Remount& wanted);

}  // namespace nfsrdma::fuse
