#include "fuse/channel/library.h"

#include <fuse_lowlevel.h>

namespace nfsrdma::fuse {

const char* library_version() { return ::fuse_pkgversion(); }

}  // namespace nfsrdma::fuse
