// nfsrdma-lab rerun FILE: runs the client on the recording of a mount.
#pragma once

#include <span>

namespace nfsrdma::lab::rerun {

/// 0: it gave the same messages; kExitFound: it did not.
int run_rerun(std::span<char*> words);

}  // namespace nfsrdma::lab::rerun
