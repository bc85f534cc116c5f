// nfsrdma-lab shrink: the least of a script or a capture that still fails.
#pragma once

#include <span>

namespace nfsrdma::lab::shrink {

/// FILE [SERVER] [options] [-- COMMAND...]. Returns the exit status.
int run_shrink(std::span<char*> words);

}  // namespace nfsrdma::lab::shrink
