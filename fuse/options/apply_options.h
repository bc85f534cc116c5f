// From the items of -o lists to Options, through the option table.
#pragma once

#include <string>
#include <vector>

#include "fuse/options/options.h"

namespace nfsrdma::fuse {

/// Applies items such as "rsize=65536" in their order; the last of several holds. Checks names,
/// presence of values and ranges. With options.program.sloppy, names that are not known become
/// notes instead of errors. The error's detail is a sentence for the user.
Result<void> apply_options(Options& options, const std::vector<std::string>& items);

}  // namespace nfsrdma::fuse
