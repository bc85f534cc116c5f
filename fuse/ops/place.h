// A name in a directory, for what changes names.
#pragma once

#include <string>

#include "cache/name/change_names.h"
#include "fuse/ops/file_system.h"

namespace nfsrdma::fuse {

/// For a request about the name: with what the kernel takes it for. It was told so not long ago, or
/// would have looked the name up first.
cache::Place place_of(FileSystem& fs, const InodeRef& directory, std::string name);

}  // namespace nfsrdma::fuse
