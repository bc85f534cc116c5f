// What is to be cut down, as a script.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/lab/script/runner.h"

namespace nfsrdma::lab::shrink {

/// The script in a file. A capture becomes one: its calls, and where `network` is there, those up
/// to the first that the server answers otherwise than the capture, which ends with an expectation
/// of what the capture has. The recording of a mount (record=FILE): what can be left out of it, a
/// line each.
Result<std::string> read_source(const std::string& path, Network* network,
                                const script::RunnerOptions& options);

/// It is the recording of a mount.
bool is_recording(const std::string& path);
/// The command that runs such a list, and fails as long as something is given out that is not in
/// the recording, or not given out by `good`, a command of the shell, if there is one.
std::vector<std::string> command_for(const std::string& recording, const std::string& good);

}  // namespace nfsrdma::lab::shrink
