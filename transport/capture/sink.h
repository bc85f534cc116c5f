// Records what connections carry into a pcapng file, as TCP segments that a dissector can follow.
// The segments are synthetic: addresses, ports and bytes are real, sequence numbers start at 1.
//
// Threading: a Sink may be shared by shards; a Flow belongs to the thread of its connection. A Sink
// must outlive its flows.
#pragma once

#include <sys/socket.h>
#include <sys/uio.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "transport/base/result.h"
#include "transport/base/unique_fd.h"
#include "transport/capture/pcapng_file.h"

namespace nfsrdma::capture {

/// One TCP connection in a capture. Opening it writes the three-way handshake, destroying it the
/// closing segments.
class Flow {
 public:
  virtual ~Flow() = default;
  /// `bytes` bytes, gathered from the front of `pieces`, went to the peer or came from it.
  virtual void sent(std::span<const iovec> pieces, std::size_t bytes) = 0;
  virtual void received(std::span<const iovec> pieces, std::size_t bytes) = 0;
};

/// A capture file. A write that fails stops the recording with one logged line; it never disturbs
/// the connections.
class Sink {
 public:
  virtual ~Sink() = default;
  /// Creates the file, or empties one of the user's own; its mode is 0600.
  static Result<std::unique_ptr<Sink>> create(const std::string& path, Clock clock = wall_clock);
  /// Writes to a file that is open and empty.
  static Result<std::unique_ptr<Sink>> create(UniqueFd file);

  /// `local` and `peer` are both AF_INET or both AF_INET6. `initiator`: this side connected. Null
  /// when this connection is not to be recorded.
  virtual std::unique_ptr<Flow> open_flow(const sockaddr& local, const sockaddr& peer,
                                          bool initiator) = 0;
  /// Writes what is buffered to the file.
  virtual void flush() = 0;
  /// Packets recorded so far: the number that a dissector gives the last one.
  virtual std::uint64_t packets() const { return 0; }
};

}  // namespace nfsrdma::capture
