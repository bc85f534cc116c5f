// How a connection reports its traffic to a capture.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <span>
#include <string>

namespace nfsrdma::capture {

/// One connection in a capture. Belongs to the thread of the connection.
class Flow {
 public:
  virtual ~Flow() = default;
  /// `bytes` bytes, gathered from the front of `pieces`, went to the peer or came from it.
  virtual void sent(std::span<const iovec> pieces, std::size_t bytes) = 0;
  virtual void received(std::span<const iovec> pieces, std::size_t bytes) = 0;
  /// Adds a comment to the next packet of this flow. Flows that write it keep the text.
  virtual void comment(std::string /*text*/) {}  // NOLINT(performance-unnecessary-value-param)
};

}  // namespace nfsrdma::capture
