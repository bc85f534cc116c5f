// What is to be cut down, as a script.
#pragma once

#include <functional>
#include <string>

#include "tests/lab/script/runner.h"

namespace nfsrdma::lab::shrink {

/// The script in a file. A capture becomes one: its calls, and where `network` is there, those up
/// to the first that the server answers otherwise than the capture, which ends with an expectation
/// of what the capture has.
Result<std::string> read_source(const std::string& path, Network* network,
                                const script::RunnerOptions& options);

}  // namespace nfsrdma::lab::shrink
