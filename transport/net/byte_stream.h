// The TCP connection as the protocol layers see it; tests put other streams in its place.
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <span>

namespace nfsrdma::net {

/// Both calls return the number of bytes moved, or a negative errno value (-EAGAIN: not now).
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  /// 0: the peer sends nothing more.
  virtual ssize_t read(std::span<iovec> into) = 0;
  virtual ssize_t write(std::span<iovec> from) = 0;
  /// Tells the peer that nothing more follows.
  virtual void finish_writing() = 0;
};

}  // namespace nfsrdma::net
