// nfsrdma-lab lint: which side broke which rule first.
#pragma once

#include <span>

namespace nfsrdma::lab {

/// FILE [--json]. Returns the exit status: 1 when a rule is broken.
int run_lint(std::span<char*> words);

}  // namespace nfsrdma::lab
