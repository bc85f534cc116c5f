// nfsrdma-lab proxy, and nfsrdma-lab fault, which talks to it.
#pragma once

#include <span>

namespace nfsrdma::lab::proxy {

/// LISTEN SERVER [options]. Runs until SIGTERM or SIGINT. Returns the exit status.
int run_proxy(std::span<char*> words);

/// SOCKET COMMAND...: says it to the control socket of a proxy or a responder, and prints the
/// answer. Returns the exit status.
int run_fault(std::span<char*> words);

}  // namespace nfsrdma::lab::proxy
