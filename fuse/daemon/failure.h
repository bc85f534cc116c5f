// The message for the user when a mount fails, and the exit code.
#pragma once

#include <string>

#include "fuse/daemon/exit_code.h"
#include "transport/base/error.h"

namespace nfsrdma::fuse {

struct Failure {
  ExitCode code;
  std::string line;  ///< one line: source, step, status, what to do
};

Failure describe_failure(const std::string& source, const Error& error);

/// Whether the server could not be reached, so that trying again may help (retry=).
bool is_unreachable(const Error& error);

}  // namespace nfsrdma::fuse
