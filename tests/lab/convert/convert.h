// nfsrdma-lab convert: a capture in another view.
#pragma once

#include <span>

namespace nfsrdma::lab {

/// FILE OUT [--view rpc]. Returns the exit status.
int run_convert(std::span<char*> words);

}  // namespace nfsrdma::lab
