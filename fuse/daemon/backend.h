// What stands behind a mount: the daemon starts, serves and stops it without knowing NFS.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fuse/channel/handler_table.h"
#include "fuse/channel/init.h"
#include "fuse/daemon/request_report.h"
#include "fuse/options/options.h"
#include "transport/base/buffer.h"
#include "transport/base/metrics.h"
#include "transport/base/origin.h"
#include "transport/base/reactor.h"
#include "transport/base/result.h"
#include "transport/base/task.h"
#include "transport/base/unique_fd.h"
#include "transport/capture/form.h"

namespace nfsrdma::fuse {

/// How a capture is written that begins while there is a mount.
struct CaptureTerms {
  std::optional<CaptureView> view;                      ///< none: that of the mount's options
  std::size_t snap = 0;                                 ///< bytes of each packet; 0: all
  std::uint64_t file_bytes = capture::kUsualFileBytes;  ///< of each file of a ring
};

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

  /// How the server is reached, in words.
  virtual std::string connection() const = 0;
  virtual void visit_counters(CounterVisitor& visitor) const = 0;
  /// Requests to the server: those that wait, the oldest first, then the last ones that ended.
  virtual void report_requests(const LineSink& line) = 0;
  /// The same for those that ended after the first `after`. Returns how many have ended by now.
  virtual std::uint64_t report_ended(std::uint64_t after, const LineSink& line) = 0;
  /// The opens, locks and delegations held at the server.
  virtual void report_state(const LineSink& line) = 0;

  // While mounted only.

  /// Ends the connection to the server and makes it anew.
  virtual void reconnect() = 0;
  /// Starts to return all delegations, in the background. Returns their number.
  virtual std::size_t return_delegations() = 0;
  /// Expires what is cached of files, here and in the kernel. Returns the number of files.
  virtual std::size_t drop_caches() = 0;
  /// Records in the files, from a new connection on. Fails where there is nothing to record
  /// (EOPNOTSUPP), and when a capture is going on.
  virtual Result<void> start_capture(std::vector<UniqueFd> files, const CaptureTerms& terms) = 0;
  virtual void stop_capture() = 0;
  virtual bool capturing() const = 0;
  /// For captures: `gone` tells whether the caller of a kernel request was answered early. Call
  /// before start().
  virtual void watch_callers(std::function<bool(Origin)> /*gone*/) {}  // NOLINT: kept if used
};

}  // namespace nfsrdma::fuse
