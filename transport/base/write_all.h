// Writing that does not stop half way.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <string_view>

namespace nfsrdma {

/// Writes all of it, with as many calls as that takes. False: errno says why it is not all.
inline bool write_all(int fd, std::string_view left) {
  while (!left.empty()) {
    const auto written = ::write(fd, left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    left.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace nfsrdma
