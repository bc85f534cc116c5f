// The subcommands script and diff.
#pragma once

#include <span>

namespace nfsrdma::lab::script {

int run_script(std::span<char*> words);
int run_diff(std::span<char*> words);

}  // namespace nfsrdma::lab::script
