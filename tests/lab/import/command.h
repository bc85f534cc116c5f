// The subcommand import.
#pragma once

#include <span>

namespace nfsrdma::lab::import {

/// nfsrdma-lab import FILE [--output SCRIPT]: returns the exit status.
int run_import(std::span<char*> words);

}  // namespace nfsrdma::lab::import
