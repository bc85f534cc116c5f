// A name in a directory, for what changes names.
#pragma once

#include <string>

#include "cache/name/change_names.h"
#include "fuse/ops/file_system.h"

namespace nfsrdma::fuse {

/// The place of a name that a request is about, with the node that the kernel takes it for. The
/// kernel was told that node within the lifetime of names, or would have looked the name up first.
cache::Place place_of(FileSystem& fs, const InodeRef& directory, std::string name);

}  // namespace nfsrdma::fuse
