#include "fuse/daemon/daemon.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "fuse/channel/mount_point.h"
#include "fuse/channel/mount_table.h"
#include "fuse/channel/unmount.h"
#include "fuse/daemon/control_answers.h"
#include "fuse/daemon/death_guard.h"
#include "fuse/daemon/failure.h"
#include "fuse/daemon/read_ahead.h"
#include "fuse/daemon/service_manager.h"
#include "fuse/daemon/statistics.h"
#include "transport/base/line_text.h"
#include "transport/base/log.h"
#include "transport/base/log_file.h"
#include "transport/base/log_thread.h"

namespace nfsrdma::fuse {
namespace {

using namespace std::chrono_literals;

/// Between two attempts to reach the server (retry=).
constexpr Duration kBetweenAttempts = 2s;
/// The kernel asks for INIT as soon as it has mounted.
constexpr Duration kInitPatience = 10s;
/// For an unmount that has to write mapped pages back first.
constexpr Duration kCleanUnmountPatience = 5s;
constexpr Duration kLazyUnmountPatience = 2s;
/// Once out of the tree, for a server that does nothing: all in all, and the part of it for
/// operations in progress. With half a second for closing the connection that makes two seconds.
constexpr Duration kEndPatience = 1500ms;
constexpr Duration kDrainPatience = 1s;
constexpr auto kStatsPatience = 2s;

}  // namespace

Daemon::Daemon(Reactor& reactor, std::unique_ptr<Backend> backend, DaemonConfig config,
               StartReport report)
    : reactor_(reactor),
      config_(std::move(config)),
      report_(std::move(report)),
      signals_(reactor, *this),
      backend_(std::move(backend)),
      begun_(reactor.now()),
      initialised_(reactor),
      over_(reactor),
      idle_(reactor) {}

Daemon::~Daemon() = default;

ExitCode Daemon::run() {
  auto signals = signals_.start(config_.log_file);
  if (!signals) {
    report_.failed(kSystem, signals.error().message());
    return kSystem;
  }
  open_control();
  backend_->watch_callers(
      [this](Origin caller) { return session_ && session_->in_flight().released(caller); });
  reactor_.post([this] { spawn(live()); });
  reactor_.run();
  // Connections that were disposed of must go before the backend they belong to.
  while (reactor_.run_once(Duration::zero())) {
  }
  write_stats();
  if (config_.stats && !config_.stats->wait(kStatsPatience)) {
    log::error("stats: the file system of the file does not answer");
  }
  return exit_code_;
}

/// A mount without it serves as well.
void Daemon::open_control() {
  if (config_.control_path.empty()) return;
  ControlSources sources{[this] { return identity(); },
                         [this](CounterVisitor& visitor) { visit_counters(visitor); },
                         [this](const LineSink& line) { report_requests(line); },
                         [this](const LineSink& line) { backend_->report_state(line); },
                         [this] { return session_ && session_->mounted() && !stopping_; },
                         [this] { backend_->reconnect(); },
                         [this] { return backend_->return_delegations(); },
                         [this] { return backend_->drop_caches(); },
                         [this](AskersFiles files, const CaptureTerms& terms) {
                           return start_capture(std::move(files), terms);
                         },
                         [this] { backend_->stop_capture(); },
                         [this](Ended since, const LineSink& line) {
                           if (session_) {
                             since.of_kernel =
                                 report_ended(session_->in_flight(), since.of_kernel, line);
                           }
                           since.of_server = backend_->report_ended(since.of_server, line);
                           return since;
                         }};
  auto socket = ControlSocket::create(
      reactor_, config_.control_path,
      [sources = std::move(sources)](std::string_view request, AskersFiles files) {
        return answer_control(sources, request, std::move(files));
      });
  if (!socket) {
    log::warning("no nfsrdmactl for this mount: {}", socket.error().message());
    return;
  }
  control_ = std::move(*socket);
}

/// Writing to a file of the own mount would wait for this very program. Neither open(2) nor what
/// looks at the file here asks a file system.
Result<void> Daemon::check_capture_file(int file) {
  struct statx status {};
  constexpr int kAskNobody = AT_EMPTY_PATH | AT_STATX_DONT_SYNC;
  if (::statx(file, "", kAskNobody, STATX_TYPE, &status) != 0) {
    return fail(Error::from_errno(errno, "capture"));
  }
  if (!session_->own_mount().known()) {
    return fail(Error::local(EOPNOTSUPP, "capture", "where this mount is is not known"));
  }
  const std::string device = fmt::format("{}:{}", status.stx_dev_major, status.stx_dev_minor);
  if (device == session_->own_mount().device) {
    return fail(Error::local(EDEADLK, "capture", "the file lies on this mount itself"));
  }
  if (!S_ISREG(status.stx_mode)) {
    return fail(Error::local(EINVAL, "capture", "not an ordinary file"));
  }
  return {};
}

Result<void> Daemon::start_capture(AskersFiles files, const CaptureTerms& terms) {
  for (const AskersFile& file : files) TRY(check_capture_file(file.get()));
  std::vector<UniqueFd> taken;
  for (AskersFile& file : files) taken.push_back(file.take());
  return backend_->start_capture(std::move(taken), terms);
}

std::string Daemon::identity() {
  const bool mounted = session_ && session_->mounted();
  const char* state = stopping_ ? "ending" : mounted ? "mounted" : "starting";
  const auto waiting = mounted ? reactor_.now() - backend_->waiting_since() : Duration::zero();
  return fmt::format(
      "pid {}\nmount_point {}\nsource {}\nconnection {}\nstate {}\nseconds {}\n"
      "waiting_seconds {}\ncapture {}\n",
      ::getpid(), escape_line(config_.session.mount_point), escape_line(config_.source),
      mounted ? backend_->connection() : "none", state,
      std::chrono::duration_cast<std::chrono::seconds>(reactor_.now() - begun_).count(),
      std::chrono::duration_cast<std::chrono::seconds>(waiting).count(),
      backend_->capturing() ? "on" : "off");
}

Task<void> Daemon::live() {
  auto up = co_await bring_up();
  // Before succeeded(), which leaves the terminal. Logged at any level: later lines name the mount
  // point only, this one the server as well.
  if (up) {
    log::write(log::Level::info,
               fmt::format("{} is mounted, by process {}", config_.source, ::getpid()));
  }
  if (up) up = report_.succeeded();
  if (up) {
    if (config_.foreground) notify_ready(config_.source, session_->own_mount().path);
    co_await over_.wait();
    if (config_.foreground) notify_stopping();
  } else {
    const auto failure = describe_failure(config_.source, up.error());
    exit_code_ = failure.code;
    report_.failed(failure.code, failure.line);
  }
  co_await shut_down();
  reactor_.stop();
}

Task<Result<void>> Daemon::bring_up() {
  auto reached = co_await reach_server();
  CO_TRY(reached);
  auto mounted = mount();
  CO_TRY(mounted);
  co_await initialised_.wait(kInitPatience);
  if (initialised_.is_set()) {
    const auto& device = session_->own_mount().device;
    if (!device.empty()) raise_read_ahead(device, config_.session.limits.max_read);
    co_return Result<void>{};
  }
  co_return fail(Error::local(EPROTO, "FUSE_INIT", "the kernel did not take the session"));
}

Task<Result<void>> Daemon::reach_server() {
  const TimePoint give_up = reactor_.now() + config_.retry;
  for (;;) {
    auto started = co_await backend_->start();
    if (started) co_return started;
    const bool again = is_unreachable(started.error()) && reactor_.now() < give_up;
    if (!again) co_return started;
    log::info("{}; trying again", started.error().message());
    co_await Sleep(reactor_, kBetweenAttempts);
  }
}

Result<void> Daemon::mount() {
  config_.session.limits = backend_->limits();
  config_.session.answer_limit.waiting_since = [this] { return backend_->waiting_since(); };
  config_.session.answer_limit.report = [this](const PendingRequest& overdue, int error_number) {
    backend_->note_overdue(overdue, error_number);
  };
  auto session = KernelSession::create(reactor_, backend_->slots(), config_.session,
                                       backend_->handlers(), backend_->served());
  if (!session) return fail_from(session);
  session_ = std::move(*session);
  TRY(session_->mount());
  if (config_.guard) config_.guard->watch(session_->own_mount(), session_->device());
  backend_->on_mounted(session_->channel());
  return session_->start(*this);
}

Task<void> Daemon::shut_down() {
  stopping_ = true;
  TimePoint left_at = reactor_.now();
  if (session_ && session_->mounted()) {
    if (!kernel_let_go_) co_await leave_mount_table();
    left_at = reactor_.now();
    session_->pause();
    co_await drain();
    if (config_.guard) config_.guard->end();
    // Detached but in use: open files there get ENOTCONN from now on.
    session_->end_connection();
  }
  const Duration left = kEndPatience - (reactor_.now() - left_at);
  auto stopped = co_await backend_->stop(std::max(left, kEndPatience - kDrainPatience));
  if (!stopped) {
    log::warning("the session could not be ended at the server: {}", stopped.error().message());
  }
  // After an abort through /sys/fs/fuse/connections the mount is still in the tree, dead.
  if (kernel_let_go_) co_await detach(UnmountMode::dead);
  log::write(log::Level::info, config_.source + " is unmounted");
}

/// Requests are still answered meanwhile, so that mapped pages can be written back.
Task<void> Daemon::leave_mount_table() {
  const OwnMount& own = session_->own_mount();
  auto place = place_of(own, read_mount_table());
  if (!may_unmount(place)) co_return;
  auto clean =
      co_await unmount(reactor_, own, place.path, UnmountMode::clean, kCleanUnmountPatience);
  if (clean) co_return;
  log::warning("{}; detaching it", clean.error().message());
  co_await detach(UnmountMode::lazy);
}

/// Out of the tree at once, but not with other file systems that are mounted below: their data may
/// be nowhere else.
Task<void> Daemon::detach(UnmountMode mode) {
  const OwnMount& own = session_->own_mount();
  const auto table = read_mount_table();
  auto place = place_of(own, table);
  if (!may_unmount(place)) co_return;
  if (place.state == MountPlace::State::used || table.empty()) {
    log::error(
        "{} stays in the tree, without a program, because of what is mounted below it ({}); "
        "umount -l {} takes all of it away",
        place.path, table.empty() ? "unknown without /proc" : place.others, place.path);
    co_return;
  }
  auto detached = co_await unmount(reactor_, own, place.path, mode, kLazyUnmountPatience);
  if (!detached) log::error("{}", detached.error().message());
}

/// Only this program's own mount, and so nothing that lies on top of it.
bool Daemon::may_unmount(const MountPlace& place) const {
  const auto& path = config_.session.mount_point;
  if (passed_device(path)) return false;  // its mounter unmounts it
  if (!session_->own_mount().known()) {
    log::warning("which mount is this program's own is not known; it unmounts none");
    return false;
  }
  if (place.state == MountPlace::State::gone) {
    log::debug("{} is not in the mount table any more", path);
    return false;
  }
  if (place.state == MountPlace::State::covered) {
    log::error(
        "{} stays in the tree, without a program, because {} lies on top of it; unmount "
        "that, then: fusermount3 -u {}",
        place.path, place.others, place.path);
    return false;
  }
  return true;
}

Task<void> Daemon::drain() {
  session_->in_flight().when_idle([this] { idle_.set(); });
  co_await idle_.wait(kDrainPatience);
  if (!idle_.is_set()) {
    log::warning("{} operations are given up", session_->in_flight().running());
  }
}

void Daemon::on_receive_ended(const Error& reason) {
  log::info("{}", reason.message());
  kernel_let_go_ = true;
  over_.set();
}

void Daemon::on_terminate() {
  if (!session_) {
    // Nothing is mounted; what the server knows of us ends with its lease.
    report_.failed(kInterrupted, config_.source + ": interrupted");
    log::finish(100ms);
    std::fflush(nullptr);  // a capture of a server that does not answer is of use just now
    ::_exit(kInterrupted);
  }
  // The first one is no reason to drop data that an end by umount(8) is just saving: a service
  // manager unmounts, and then sends SIGTERM.
  const bool again = std::exchange(asked_to_end_, true);
  if (again && stopping_) {  // two that came together are one
    log::warning("a second signal: ending at once");
    log::finish(100ms);
    std::fflush(nullptr);  // what the capture has of this turn
    ::_exit(kInterrupted);
  }
  if (stopping_) log::info("a signal while the mount ends: it goes on ending in order");
  over_.set();
}

void Daemon::on_hang_up() {
  if (log::reopen_file()) return;
  if (config_.foreground) on_terminate();
}

void Daemon::on_dump() {
  log_counters([this](CounterVisitor& visitor) { visit_counters(visitor); });
  report_requests([](std::string_view line) { log::write(log::Level::info, line); });
  write_stats();
}

void Daemon::report_requests(const LineSink& line) {
  if (session_) report_kernel_requests(session_->in_flight(), reactor_.now(), line);
  backend_->report_requests(line);
}

void Daemon::write_stats() {
  if (!config_.stats) return;
  config_.stats->write(
      format_counters([this](CounterVisitor& visitor) { visit_counters(visitor); }));
}

void Daemon::visit_counters(CounterVisitor& visitor) const {
  if (session_) session_->visit_counters(visitor);
  backend_->visit_counters(visitor);
  if (config_.busy_poll) config_.busy_poll->visit_counters(visitor);
}

}  // namespace nfsrdma::fuse
