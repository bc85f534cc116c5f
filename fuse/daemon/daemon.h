// The life of one mount: reach the server, mount, serve, take everything down in order.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "fuse/channel/kernel_session.h"
#include "fuse/channel/unmount.h"
#include "fuse/control/control_socket.h"
#include "fuse/daemon/backend.h"
#include "fuse/daemon/death_guard.h"
#include "fuse/daemon/exit_code.h"
#include "fuse/daemon/signals.h"
#include "fuse/daemon/start_report.h"
#include "fuse/daemon/statistics_file.h"
#include "transport/base/busy_poll.h"
#include "transport/base/sync/event.h"

namespace nfsrdma::fuse {

struct DaemonConfig {
  std::string source;  ///< for messages
  /// The limits are the backend's.
  KernelSessionConfig session;
  Duration retry{0};  ///< how long to go on when the server cannot be reached
  std::optional<StatisticsFile> stats;
  std::string control_path;  ///< the control socket is made there; empty: there is none
  /// That of the reactor, for its counters; outlives the daemon. Null: it has none.
  const BusyPoll* busy_poll = nullptr;
  /// Told of the mount and of its end; outlives the daemon. Null: there is none.
  DeathGuard* guard = nullptr;
  bool foreground = false;
  bool log_file = false;  ///< the log goes to a file, which SIGHUP opens anew
};

/// Runs on one reactor and blocks its thread only while mounting.
class Daemon final : private ReceiverObserver, private SignalObserver {
 public:
  /// The reactor outlives the daemon.
  Daemon(Reactor& reactor, std::unique_ptr<Backend> backend, DaemonConfig config,
         StartReport report);
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;
  ~Daemon();

  /// Serves until the mount has ended, by whatever way. The start is reported on the way.
  ExitCode run();

 private:
  void open_control();
  std::string identity();
  Result<void> start_capture(AskersFiles files, const CaptureTerms& terms);
  Result<void> check_capture_file(int file);
  void report_requests(const LineSink& line);
  Task<void> live();
  Task<Result<void>> bring_up();
  Task<Result<void>> reach_server();
  Result<void> mount();
  Task<void> shut_down();
  Task<void> leave_mount_table();
  Task<void> drain();
  Task<void> detach(UnmountMode mode);
  bool may_unmount(const MountPlace& place) const;

  void on_initialised() override { initialised_.set(); }
  void on_receive_ended(const Error& reason) override;
  void on_terminate() override;
  void on_hang_up() override;
  void on_dump() override;
  void write_stats();
  void visit_counters(CounterVisitor& visitor) const;

  Reactor& reactor_;
  DaemonConfig config_;
  StartReport report_;
  Signals signals_;
  std::unique_ptr<ControlSocket> control_;
  std::unique_ptr<KernelSession> session_;
  std::unique_ptr<Backend> backend_;  // goes before the session that it may notify
  const TimePoint begun_;
  Event initialised_;
  Event over_;  ///< time to stop: the kernel let go, or a signal came
  Event idle_;
  bool kernel_let_go_ = false;
  bool stopping_ = false;
  bool asked_to_end_ = false;  ///< by a signal
  ExitCode exit_code_ = kSuccess;
};

}  // namespace nfsrdma::fuse
