// Shared by the files log*.cc; not part of the interface.
#pragma once

#include <spdlog/logger.h>

#include <memory>

namespace nfsrdma::log {

/// The one logger, which configure() and write_beside() replace.
std::shared_ptr<spdlog::logger>& logger();

/// A line will be given to the logger: finish() waits for it.
void line_asked_for();

}  // namespace nfsrdma::log
