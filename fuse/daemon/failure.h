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

/// Whether the server could not be reached, so that another of its addresses may do, and trying
/// again may help (retry=).
bool is_unreachable(const Error& error);
/// Of the errors of two addresses of the server, in the order they were tried, the one for the
/// user: that of the address where most was done. That this machine has no IPv6 is not why a server
/// could not be reached, and that nothing listens at one address is not why another hangs up.
const Error& telling_more(const Error& one, const Error& other);

/// The same error, naming the address of a server that has several.
Error at_address(Error error, const std::string& address);

}  // namespace nfsrdma::fuse
