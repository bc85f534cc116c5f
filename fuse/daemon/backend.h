// What stands behind a mount: the daemon starts, serves and stops it without knowing NFS.
#pragma once

#include <cstddef>
#include <string>

#include "fuse/channel/handler_table.h"
#include "fuse/channel/init.h"
#include "fuse/daemon/request_report.h"
#include "transport/base/buffer.h"
#include "transport/base/metrics.h"
#include "transport/base/reactor.h"
#include "transport/base/result.h"
#include "transport/base/task.h"

namespace nfsrdma::fuse {

/// Belongs to the daemon's reactor.
class Backend {
 public:
  virtual ~Backend() = default;

  /// Makes everything ready that the operations need. May be called again after it failed.
  virtual Task<Result<void>> start() = 0;
  /// Writes dirty data back and ends the session in order, within a bounded
  /// time: a server that does nothing is given `patience`, more only to save data. Operations that
  /// still wait are ended. No request comes any more. Harmless when start() failed.
  virtual Task<Result<void>> stop(Duration patience) = 0;

  // Valid once start() has succeeded.
  virtual const HandlerTable& handlers() const = 0;
  /// What the handlers are called with.
  virtual void* served() = 0;
  /// Where requests and their data lie; slots of at least kSlotSize.
  virtual BufferPool& slots() = 0;
  virtual TransferLimits limits() const = 0;
  /// Send time of the oldest unanswered request; the present time if there is none.
  virtual TimePoint waiting_since() = 0;
  /// The request is about to be answered with an error because the server has not answered.
  virtual void note_overdue(const PendingRequest& overdue, int error_number) = 0;

  /// The session is mounted, and receives no request before this returns. Its channel outlives the
  /// backend.
  virtual void on_mounted(KernelChannel& channel) = 0;

  /// By what way the server is reached, for people.
  virtual std::string connection() const = 0;
  virtual void visit_counters(CounterVisitor& visitor) const = 0;
  /// Requests to the server: those that wait, the oldest first, then the last ones that ended.
  virtual void report_requests(const LineSink& line) = 0;
  /// What is held at the server.
  virtual void report_state(const LineSink& line) = 0;

  // While mounted only.

  /// Ends the connection to the server and makes it anew.
  virtual void reconnect() = 0;
  /// Gives back what the server has delegated, in the background; how many that is.
  virtual std::size_t return_delegations() = 0;
};

}  // namespace nfsrdma::fuse
