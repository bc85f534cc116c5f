// From a message to its handler; what no file system needs to know of is answered here.
#pragma once

#include <sys/types.h>

#include <optional>

#include "fuse/channel/handler_table.h"
#include "fuse/channel/in_flight.h"
#include "fuse/channel/init.h"
#include "transport/base/log_limit.h"

namespace nfsrdma::fuse {

/// The handlers, and the users that they serve. All references outlive the dispatcher.
struct Serving {
  const HandlerTable& handlers;
  void* served;  ///< what the handlers are called with
  TransferLimits limits;
  bool only_owner_and_root = false;  ///< allow_root: other users are refused here
};

/// Answers FUSE_INIT, INTERRUPT and DESTROY, what is malformed and what has no handler. Belongs to
/// the session's reactor thread.
class Dispatcher {
 public:
  Dispatcher(Reactor& reactor, InFlight& in_flight, Serving serving);

  /// Gives one message to its handler. Answers go to `channel`.
  void dispatch(KernelChannel& channel, const Message& message);
  /// The first part of it for a request that must wait before it is served: its caller can be
  /// released meanwhile. Empty: it has been answered.
  std::optional<Request> take_in(KernelChannel& channel, const fuse_in_header& header);
  /// The second part; `message` is the one whose header was taken in.
  void serve(Request request, const Message& message);
  /// FUSE_INIT was answered: the mount is live.
  bool initialised() const { return initialised_; }

 private:
  void initialise(KernelChannel& channel, const Message& message);
  bool refused(const fuse_in_header& header) const;
  void report_malformed(const fuse_in_header& header);

  const Reactor& reactor_;
  InFlight& in_flight_;
  const Serving serving_;
  const uid_t owner_;
  bool initialised_ = false;
  log::Limit malformed_lines_;
};

}  // namespace nfsrdma::fuse
