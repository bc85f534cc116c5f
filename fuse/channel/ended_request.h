// A request of the kernel that was answered.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

#include "transport/base/reactor.h"

namespace nfsrdma::fuse {

/// A request of the kernel, and the time of its answer. The NFS requests made for it name its
/// number (client::Span::origin).
struct EndedRequest {
  std::uint64_t unique = 0;  ///< the kernel's number for it
  std::uint64_t node = 0;    ///< the inode it was about, by the kernel's number
  std::uint32_t opcode = 0;
  pid_t pid = 0;
  int error_number = 0;
  std::uint32_t bytes_received = 0;  ///< of the request
  std::uint32_t bytes_sent = 0;      ///< of the answer, without its header
  TimePoint received{0};
  TimePoint answered{0};  ///< taken by the kernel, or refused
};

}  // namespace nfsrdma::fuse
