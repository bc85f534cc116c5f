// /dev/fuse.
#pragma once

#include "fuse/channel/kernel_channel.h"

namespace nfsrdma::fuse {

/// Sends with one writev(2) a message. The code that mounts sets the descriptor, and keeps it open
/// until no thread sends any more.
class DeviceChannel final : public KernelChannel {
 public:
  int send(std::span<const iovec> parts) override;

  int descriptor = -1;
};

}  // namespace nfsrdma::fuse
