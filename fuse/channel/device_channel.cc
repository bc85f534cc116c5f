#include "fuse/channel/device_channel.h"

#include <cerrno>

namespace nfsrdma::fuse {

int DeviceChannel::send(std::span<const iovec> parts) {
  return ::writev(descriptor, parts.data(), static_cast<int>(parts.size())) < 0 ? errno : 0;
}

}  // namespace nfsrdma::fuse
