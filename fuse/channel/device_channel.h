// /dev/fuse.
#pragma once

#include <cerrno>

#include "fuse/channel/kernel_channel.h"

namespace nfsrdma::fuse {

/// Sends with one writev(2) a message. The code that mounts sets the descriptor, and keeps it open
/// until no thread sends any more.
class DeviceChannel final : public KernelChannel {
 public:
  int send(std::span<const iovec> parts) override {
    return ::writev(descriptor, parts.data(), static_cast<int>(parts.size())) < 0 ? errno : 0;
  }

  int descriptor = -1;
};

}  // namespace nfsrdma::fuse
