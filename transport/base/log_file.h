// The log in a file of its own. Apart from log.h because only the command uses it.
#pragma once

#include <string>

#include "transport/base/log.h"
#include "transport/base/result.h"

namespace nfsrdma::log {

/// In the place of configure(): lines are appended to the file, which is made for the user alone.
/// An error where it is no regular file, or cannot be written.
Result<void> configure_file(const std::string& path, Level level, std::string identity);

/// Opens that file anew by its name, as after a rotation, and writes a line there. False, without
/// effect, when the log is in no file. Belongs to the thread that configured it.
bool reopen_file();

}  // namespace nfsrdma::log
