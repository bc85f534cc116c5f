// The kernel's switch for FUSE over io_uring, for as long as a test needs it.
#pragma once

#include <string>

#include "transport/base/unique_fd.h"

namespace nfsrdma::testing {

/// Switched on from construction to destruction, as root. Tests that run side by side share it: the
/// last one puts back what it found (tests/mount/lib.sh does the same).
class IoUringOffer {
 public:
  IoUringOffer();
  IoUringOffer(const IoUringOffer&) = delete;
  IoUringOffer& operator=(const IoUringOffer&) = delete;
  ~IoUringOffer();

  /// Empty when the kernel offers it, else why not.
  const std::string& reason_against() const { return reason_; }

 private:
  UniqueFd lock_;
  std::string reason_;
};

}  // namespace nfsrdma::testing
