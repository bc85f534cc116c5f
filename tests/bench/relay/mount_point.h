// A mount whose FUSE_INIT has been answered, as nfsrdma answers it.
#pragma once

#include <memory>
#include <string>

#include "fuse/channel/mount_point.h"
#include "transport/base/result.h"

namespace nfsrdma::bench::relay {

class MountPoint {
 public:
  /// Mounts on a directory. With `over_ring` the kernel waits for an io_uring after this. Blocks.
  static Result<MountPoint> mount(const std::string& path, bool over_ring);
  /// /dev/fuse; reading from it ends with ENODEV once it is unmounted.
  int device() const { return fuse_session_fd(session_.get()); }

 private:
  explicit MountPoint(fuse_session* session) : session_(session, &fuse_session_destroy) {}
  Result<void> answer_init(bool over_ring) const;

  std::unique_ptr<fuse_session, decltype(&fuse_session_destroy)> session_;
};

}  // namespace nfsrdma::bench::relay
