// The two ways between the kernel, the relay and the socket to its server.
#pragma once

#include <cstddef>

namespace nfsrdma::bench::relay {

/// How to wait for what comes next.
struct Waiting {
  int device = -1;                ///< /dev/fuse; FUSE_INIT has been answered
  int socket = -1;                ///< connected to the server
  long looking_microseconds = 0;  ///< look for so long before sleeping
  /// Bytes of data that stay here after their WRITEs, as a client keeps what it may have to send
  /// again; not with an io_uring.
  std::size_t kept_bytes = 0;
  /// As iWARP wants it (segmented_link.h); not with an io_uring.
  bool in_segments = false;
  /// Small WRITEs wait for FLUSH, and CLOSE has an answer; not with an io_uring.
  bool as_nfs = false;
};

/// By read(2) and write(2) of /dev/fuse, sendmsg(2) and readv(2), and epoll_wait(2) for both. Until
/// unmounted: 0. Otherwise what main() returns.
int run_by_epoll(const Waiting& waiting);
/// By one io_uring for all of it: one io_uring_enter(2) a turn.
int run_by_ring(const Waiting& waiting);

}  // namespace nfsrdma::bench::relay
