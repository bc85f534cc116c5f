// Mounting, and finding out what to tell the user when it fails.
#pragma once

#include <fuse_lowlevel.h>

#include <optional>
#include <string>

#include "transport/base/result.h"

namespace nfsrdma::fuse {

/// The descriptor of "/dev/fd/N", by which a program that has opened /dev/fuse and mounted it
/// passes it on; nothing for any other path.
std::optional<int> passed_device(const std::string& mount_point);

/// The absolute form of the path (nothing of the mounted file system is touched), after making sure
/// that it is a directory where this program may mount: it exists, is not one of our mounts already
/// and not the remains of a dead one. A device that was passed must be an open /dev/fuse.
Result<std::string> check_mount_point(const std::string& path);

/// Mounts a session and says why that failed in words of ours. Blocks.
Result<void> mount_session(fuse_session& session, const std::string& mount_point);

/// Turns what libfuse and fusermount3 said about a failed mount into an error with a remedy.
Error explain_mount_failure(const std::string& said, const std::string& mount_point);

/// Collects what libfuse says instead of letting it print, for as long as it lives. One at a time.
class FuseLog {
 public:
  FuseLog();
  FuseLog(const FuseLog&) = delete;
  FuseLog& operator=(const FuseLog&) = delete;
  ~FuseLog();
  const std::string& text() const { return text_; }
  /// Without line end and "fuse: ".
  std::string last_line() const;

 private:
  std::string text_;
};

}  // namespace nfsrdma::fuse
