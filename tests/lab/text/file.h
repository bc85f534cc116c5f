// Files that a subcommand is given.
#pragma once

#include <string>

#include "transport/base/result.h"

namespace nfsrdma::lab {

/// All bytes of a file. An error has `step`, a literal that says what it was read for, and the
/// path.
Result<std::string> read_whole(const std::string& path, const char* step);

}  // namespace nfsrdma::lab
