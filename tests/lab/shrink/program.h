// A program that tells by how it ends whether a script still fails.
#pragma once

#include <string>
#include <vector>

#include "transport/base/reactor.h"
#include "transport/base/result.h"

namespace nfsrdma::lab::shrink {

/// Runs a program, found in PATH, without input and output, and waits for its end: "exit status 1",
/// "signal 11", or, where it was ended because `limit` was over, "no end". Blocks.
Result<std::string> run_program(const std::vector<std::string>& words, Duration limit);

/// What run_program says of one that found nothing wrong.
inline constexpr const char* kSuccess = "exit status 0";

}  // namespace nfsrdma::lab::shrink
