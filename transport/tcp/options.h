// Options of the TCP transport. One object per server, fixed while it is used.
#pragma once

#include <cstddef>
#include <cstdint>

#include "transport/base/reactor.h"

namespace nfsrdma::capture {
class Sink;
}

namespace nfsrdma::tcp {

struct Options {
  /// The most ordinary Calls that will ever be open at once. Not 0.
  std::uint32_t calls = 64;
  /// Callbacks taken at once. Not 0.
  std::uint32_t backward_calls = 16;
  /// Bytes of a message that are received into pooled memory without the help of a larger slot;
  /// also the bound of a callback and of its reply.
  std::size_t message_size = 4096;
  Duration connect_timeout = std::chrono::seconds(15);
  capture::Sink* capture = nullptr;  ///< where to record the connection, or null; must outlive
};

}  // namespace nfsrdma::tcp
