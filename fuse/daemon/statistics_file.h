// The file of stats=.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "transport/base/result.h"
#include "transport/base/unique_fd.h"

namespace nfsrdma::fuse {

/// Refuses a file of an option (its name is the error's step) whose directory does not exist, or
/// that lies below the mount point: opening it would be a request to this program.
Result<void> check_own_file(const char* option, const std::string& file,
                            const std::string& mount_point);

/// Replaces the file as a whole, so that a reader never sees half of it. For the user only:
/// mode 0600, and no symbolic link is followed.
///
/// Its directory is open from before the mount, so that whatever is mounted or renamed later,
/// writing does not lead into the program's own mount. It is written by a thread of its own: other
/// file systems may not answer either.
class StatisticsFile {
 public:
  /// Makes sure that it can be written, or says why not.
  static Result<StatisticsFile> open(const std::string& path);
  StatisticsFile(StatisticsFile&&) noexcept;
  StatisticsFile& operator=(StatisticsFile&&) noexcept;
  /// Leaves a thread that does not come back to itself.
  ~StatisticsFile();

  /// Returns at once. Of several that wait, the last is written. Failures are logged.
  void write(std::string text);
  /// Waits until all is written, but not longer; says whether it is.
  bool wait(std::chrono::milliseconds patience);

 private:
  struct Shared;
  explicit StatisticsFile(std::shared_ptr<Shared> shared);
  static void write_what_waits(const std::shared_ptr<Shared>& shared);

  std::shared_ptr<Shared> shared_;
};

}  // namespace nfsrdma::fuse
