#include "fuse/daemon/read_ahead.h"

#include <fmt/format.h>

#include <fstream>

#include "transport/base/log.h"

namespace nfsrdma::fuse {

void raise_read_ahead(const std::string& device, std::size_t bytes) {
  constexpr std::size_t kKibibyte = 1024;
  std::ofstream limit(fmt::format("/sys/class/bdi/{}/read_ahead_kb", device));
  limit << bytes / kKibibyte << std::endl;
  if (!limit) log::debug("the kernel's own read-ahead stays: /sys is not writable");
}

}  // namespace nfsrdma::fuse
