// What another program writes.
#pragma once

#include <string>
#include <vector>

#include "transport/base/result.h"

namespace nfsrdma::lab::shrink {

/// Lines that `command` writes, a command of the shell to which `words` are added. Blocks until it
/// has ended; an error where it fails.
Result<std::vector<std::string>> lines_of(const std::string& command,
                                          const std::vector<std::string>& words);

}  // namespace nfsrdma::lab::shrink
