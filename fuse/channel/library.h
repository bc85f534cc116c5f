// The library that speaks to the kernel.
#pragma once

namespace nfsrdma::fuse {

/// The version of libfuse that is in use, "3.14.0", which may be newer than the one compiled
/// against.
const char* library_version();

}  // namespace nfsrdma::fuse
