// nfsrdma-lab replay: a captured session, issued again to a server.
#pragma once

#include <span>

namespace nfsrdma::lab::replay {

/// FILE SERVER [options]. Returns the exit status.
int run_replay(std::span<char*> words);

}  // namespace nfsrdma::lab::replay
