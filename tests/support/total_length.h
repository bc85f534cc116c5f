// The size of what a stream is asked for.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <span>

namespace nfsrdma::testing {

inline std::size_t total_length(std::span<const iovec> pieces) {
  std::size_t total = 0;
  for (const iovec& piece : pieces) total += piece.iov_len;
  return total;
}

}  // namespace nfsrdma::testing
