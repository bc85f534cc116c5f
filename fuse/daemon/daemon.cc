#include "fuse/daemon/daemon.h"

#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "fuse/daemon/failure.h"
#include "fuse/daemon/read_ahead.h"
#include "fuse/daemon/statistics.h"
#include "fuse/session/mount_table.h"
#include "fuse/session/unmount.h"
#include "transport/base/log.h"

namespace nfsrdma::fs {
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

/// A mount whose connection has ended. Device numbers are used again at once, so that a new mount
/// on the same directory may have the old one's.
bool is_dead(const std::string& mount_point) {
  struct statfs ignored {};
  return ::statfs(mount_point.c_str(), &ignored) != 0 && errno == ENOTCONN;
}

}  // namespace

Daemon::Daemon(Reactor& reactor, std::unique_ptr<Backend> backend, DaemonConfig config,
               StartReport report)
    : reactor_(reactor),
      config_(std::move(config)),
      report_(std::move(report)),
      signals_(reactor, *this),
      backend_(std::move(backend)),
      initialised_(reactor),
      over_(reactor),
      idle_(reactor) {}

Daemon::~Daemon() = default;

ExitCode Daemon::run() {
  auto signals = signals_.start();
  if (!signals) {
    report_.failed(kSystem, signals.error().message());
    return kSystem;
  }
  reactor_.post([this] { spawn(live()); });
  reactor_.run();
  // Connections that were disposed of must go before the backend they belong to.
  while (reactor_.run_once(Duration::zero())) {
  }
  write_stats();
  return exit_code_;
}

Task<void> Daemon::live() {
  auto up = co_await bring_up();
  if (up) up = report_.succeeded();
  if (up) {
    log::info("{} is mounted on {}", config_.source, config_.session.mount_point);
    co_await over_.wait();
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
    raise_read_ahead(session_->device(), config_.session.limits.max_read);
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
  auto session = Session::create(reactor_, backend_->slots(), config_.session,
                                 backend_->operations(), backend_->user_data());
  if (!session) return fail_from(session);
  TRY((*session)->mount());
  session_ = std::move(*session);
  backend_->on_mounted(session_->handle());
  return session_->start(*this);
}

Task<void> Daemon::shut_down() {
  stopping_ = true;
  TimePoint left_at = reactor_.now();
  if (session_) {
    if (!kernel_let_go_) {
      co_await leave_mount_table();
    }
    left_at = reactor_.now();
    session_->pause();
    co_await drain();
    if (!kernel_let_go_) end_connection();
  }
  const Duration left = kEndPatience - (reactor_.now() - left_at);
  auto stopped = co_await backend_->stop(std::max(left, kEndPatience - kDrainPatience));
  if (!stopped) log::warning("{}", stopped.error().message());
  co_await remove_dead_mount();
  log::info("{} is unmounted", config_.source);
}

/// Requests are still answered meanwhile, so that mapped pages can be written back.
Task<void> Daemon::leave_mount_table() {
  auto clean = co_await unmount(reactor_, config_.session.mount_point, UnmountMode::clean,
                                kCleanUnmountPatience);
  if (clean) co_return;
  log::warning("{}: {}; detaching it", config_.session.mount_point, clean.error().message());
  auto lazy = co_await unmount(reactor_, config_.session.mount_point, UnmountMode::lazy,
                               kLazyUnmountPatience);
  if (!lazy) log::error("{}: {}", config_.session.mount_point, lazy.error().message());
}

Task<void> Daemon::drain() {
  session_->in_flight().when_idle([this] { idle_.set(); });
  co_await idle_.wait(kDrainPatience);
  if (!idle_.is_set()) {
    log::warning("{} operations are given up", session_->in_flight().running());
  }
}

/// Detached but in use: whoever still has something open there gets ENOTCONN from now on.
void Daemon::end_connection() {
  if (!abort_connection(session_->device())) {
    log::warning("{}: no /sys/fs/fuse/connections; its users wait until this program has ended",
                 config_.session.mount_point);
  }
}

/// After an abort through /sys/fs/fuse/connections the mount is still in the tree, dead.
Task<void> Daemon::remove_dead_mount() {
  const auto entry = find_mount(config_.session.mount_point);
  if (!session_ || !entry || entry->device != session_->device()) co_return;
  if (!is_dead(entry->mount_point)) co_return;
  auto removed = co_await unmount(reactor_, config_.session.mount_point, UnmountMode::lazy,
                                  kLazyUnmountPatience);
  if (!removed) log::error("{}: {}", config_.session.mount_point, removed.error().message());
}

void Daemon::on_initialised() { initialised_.set(); }

void Daemon::on_receive_ended(const Error& reason) {
  log::info("{}: {}", config_.session.mount_point, reason.message());
  kernel_let_go_ = true;
  over_.set();
}

void Daemon::on_terminate() {
  if (!session_) {
    // Nothing is mounted; what the server knows of us ends with its lease.
    report_.failed(kInterrupted, config_.source + ": interrupted");
    std::fflush(nullptr);  // a capture of a server that does not answer is of use just now
    ::_exit(kInterrupted);
  }
  if (stopping_) {
    log::warning("a second signal: ending at once");
    ::_exit(kInterrupted);
  }
  over_.set();
}

void Daemon::on_hang_up() {
  if (config_.foreground) on_terminate();
}

void Daemon::on_dump() {
  log_counters([this](CounterVisitor& visitor) { visit_counters(visitor); });
  write_stats();
}

void Daemon::write_stats() {
  if (config_.stats_file.empty()) return;
  auto written = write_counters(config_.stats_file,
                                [this](CounterVisitor& visitor) { visit_counters(visitor); });
  if (!written) log::error("{}", written.error().message());
}

void Daemon::visit_counters(CounterVisitor& visitor) const {
  if (session_) session_->visit_counters(visitor);
  backend_->visit_counters(visitor);
}

}  // namespace nfsrdma::fs
