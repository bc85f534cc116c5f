// The parts of the option table, one file each, and their common helpers.
#pragma once

#include <span>
#include <string>

#include "fuse/options/option_table.h"

namespace nfsrdma::fuse {

std::span<const OptionSpec> own_options();
std::span<const OptionSpec> nfs_options();
std::span<const OptionSpec> mount_options();
std::span<const OptionSpec> ignored_options();
std::span<const OptionSpec> refused_options();

/// A value that cannot be taken; the parser adds the option's name.
tl::unexpected<Error> bad_value(std::string detail);

}  // namespace nfsrdma::fuse
