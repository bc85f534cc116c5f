// Going into the background, and telling the waiting command how the start ended.
#pragma once

#include <optional>
#include <string>

#include "fuse/daemon/exit_code.h"
#include "transport/base/result.h"
#include "transport/base/unique_fd.h"

namespace nfsrdma::fuse {

/// The serving process's end. Reports once; a process that ends without a report is reported by the
/// waiting command as an internal failure.
class StartReport {
 public:
  /// For the foreground: a failure is printed, a success is not.
  StartReport() = default;
  explicit StartReport(UniqueFd parent) : parent_(std::move(parent)) {}

  /// The mount is live: lets the command exit 0 and leaves the terminal. An error means that the
  /// command is gone (the user gave up), and the mount must be undone.
  Result<void> succeeded();
  /// One line for standard error, and the command's exit code.
  void failed(ExitCode code, const std::string& line);

 private:
  UniqueFd parent_;
};

/// Splits the process. In the child: a report to fill in. In the parent: waits for that report,
/// prints its line and returns the exit code instead. Call it before there is any thread.
struct Background {
  std::optional<StartReport> report;  ///< set in the child
  ExitCode exit_code = kSuccess;      ///< for the parent
};
Background go_into_background();

}  // namespace nfsrdma::fuse
