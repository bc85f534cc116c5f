// Small files of /proc, which are read at once and into memory of the caller.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <span>
#include <string_view>

#include "transport/base/unique_fd.h"

namespace nfsrdma {

/// What the file begins with, as much as `memory` holds, and in it. Empty: it cannot be read.
inline std::string_view read_start_of(const char* path, std::span<char> memory) {
  const UniqueFd file(::open(path, O_RDONLY | O_CLOEXEC));
  if (!file) return {};
  const auto size = ::read(file.get(), memory.data(), memory.size());
  return {memory.data(), size > 0 ? static_cast<std::size_t>(size) : 0};
}

}  // namespace nfsrdma
