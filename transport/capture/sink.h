// Records what connections carry into a pcapng file, as packets that a dissector can follow. The
// packets are synthetic; who opens the flow says which addresses and ports are real.
//
// Threading: a Sink may be shared by shards; a Flow belongs to the thread of its connection. A Sink
// must outlive its flows.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "transport/base/reactor.h"
#include "transport/base/result.h"
#include "transport/base/unique_fd.h"
#include "transport/capture/flow.h"
#include "transport/capture/form.h"
#include "transport/capture/message_bounds.h"
#include "transport/capture/pcapng_file.h"

namespace nfsrdma::capture {

/// A capture. A write that fails stops the recording with one logged line; it never disturbs the
/// connections.
class Sink {
 public:
  virtual ~Sink() = default;
  /// Creates the file, or those of a ring, or empties those of the user's own; their mode is 0600.
  static Result<std::unique_ptr<Sink>> create(const std::string& path, const Form& form = {},
                                              Clock clock = wall_clock);
  /// Empties files that are open for writing, as many as the form says, and writes to them.
  static Result<std::unique_ptr<Sink>> create(std::vector<UniqueFd> files, const Form& form);

  /// `local` and `peer` are both AF_INET or both AF_INET6. `initiator`: this side connected. A
  /// stream whose local port is 0 is shown with one of its own: dissectors take connections with
  /// the same ports for one. Null when this connection is not to be recorded.
  virtual std::unique_ptr<Flow> open_flow(const sockaddr& local, const sockaddr& peer,
                                          bool initiator, Carried carried) = 0;
  /// Whether open_flow() gives anything at present.
  virtual bool on() const { return true; }
  /// Writes what is buffered to the file.
  virtual void flush() = 0;
  /// From now on the file is whole, up to the last packet, after each turn of `reactor`, whose
  /// thread adds all packets and destroys the sink: what a program did before it hung or was killed
  /// is in its capture. Without it the file is whole after flush(), and when a flow ends.
  virtual void flush_after_turns(Reactor& /*reactor*/) {}
  /// Packets recorded so far: the number that a dissector gives the last one.
  virtual std::uint64_t packets() const { return 0; }
};

}  // namespace nfsrdma::capture
