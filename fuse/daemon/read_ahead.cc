#include "fuse/daemon/read_ahead.h"

#include <fmt/format.h>

#include <fstream>

#include "transport/base/log.h"

namespace nfsrdma::fs {

void raise_read_ahead(const std::string& device, std::size_t octets) {
  constexpr std::size_t kKibibyte = 1024;
  std::ofstream limit(fmt::format("/sys/class/bdi/{}/read_ahead_kb", device));
  limit << octets / kKibibyte << std::endl;
  if (!limit) log::debug("the kernel's own read-ahead stays: /sys is not writable");
}

}  // namespace nfsrdma::fs
