#include "fuse/daemon/run.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <span>
#include <system_error>

#include "fuse/channel/mount_point.h"
#include "fuse/control/control_directory.h"
#include "fuse/daemon/daemon.h"
#include "fuse/daemon/death_guard.h"
#include "fuse/daemon/failure.h"
#include "fuse/daemon/guard_process.h"
#include "fuse/daemon/nfs_backend.h"
#include "fuse/daemon/recording.h"
#include "fuse/daemon/remount.h"
#include "fuse/daemon/version.h"
#include "fuse/options/command_line.h"
#include "transport/base/busy_poll.h"
#include "transport/base/log.h"
#include "transport/base/log_file.h"
#include "transport/base/log_terminal.h"
#include "transport/base/log_thread.h"
#include "transport/base/unique_fd.h"

namespace nfsrdma::fuse {
namespace {

/// For a log without a reader.
constexpr auto kLogPatience = std::chrono::milliseconds(500);

int say_usage_error(const Error& error) {
  fmt::print(stderr, "nfsrdma: {}\n", error.detail);
  return kUsage;
}

int say_failure(const Options& options, const Error& error) {
  const auto failure = describe_failure(options.source.text, error);
  fmt::print(stderr, "nfsrdma: {}\n", failure.line);
  return failure.code;
}

/// mount(8) -N: a process id or the path of a namespace.
Result<void> enter_namespace(const std::string& name) {
  if (name.empty()) return {};
  const bool process = std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; });
  const std::string path = process ? "/proc/" + name + "/ns/mnt" : name;
  UniqueFd space(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!space || ::setns(space.get(), CLONE_NEWNS) != 0) {
    return fail(Error::from_errno(errno, "mount namespace", path));
  }
  return {};
}

/// The program leaves its working directory: names of files become absolute before. Fails where
/// that directory was removed.
Result<void> make_absolute(const char* option, std::string& file) {
  if (file.empty()) return {};
  std::error_code error;
  const auto absolute = std::filesystem::absolute(file, error);
  if (error) return fail(Error::from_errno(error.value(), option, file));
  file = absolute.string();
  return {};
}

Result<void> prepare(Options& options) {
  TRY(make_absolute("capture", options.transport.capture_file));
  TRY(make_absolute("stats", options.program.stats_file));
  TRY(make_absolute("log", options.program.log_file));
  TRY(make_absolute("record", options.program.record_file));
  TRY(enter_namespace(options.program.mount_namespace));
  auto mount_point = check_mount_point(options.mount_point);
  if (!mount_point) return fail_from(mount_point);
  options.mount_point = *mount_point;
  options.mounted_by_another = passed_device(options.mount_point).has_value();
  if (options.program.control.starts_with('/')) {
    TRY(check_own_file("control", options.program.control, options.mount_point));
  }
  TRY(check_own_file("capture", options.transport.capture_file, options.mount_point));
  TRY(check_own_file("record", options.program.record_file, options.mount_point));
  TRY(check_own_file("log", options.program.log_file, options.mount_point));
  return check_own_file("stats", options.program.stats_file, options.mount_point);
}

/// Before the mount, and before the command goes into the background.
Result<std::optional<StatisticsFile>> open_statistics(const Options& options) {
  if (options.program.stats_file.empty()) return std::nullopt;
  auto file = StatisticsFile::open(options.program.stats_file);
  if (!file) return fail_from(file);
  return std::move(*file);
}

std::vector<std::string> mount_list(const Options& options) {
  auto list = options.mount_flags;
  list.push_back("fsname=" + (options.fsname.empty() ? options.source.text : options.fsname));
  list.push_back("subtype=" + options.subtype);
  if (options.allow_root) list.emplace_back("allow_root");
  if (options.allow_other) list.emplace_back("allow_other");
  if (options.kernel_checks()) list.emplace_back("default_permissions");
  return list;
}

DaemonConfig daemon_config(const Options& options) {
  DaemonConfig config;
  config.source = options.source.text;
  config.session.mount_point = options.mount_point;
  config.session.mount_options = mount_list(options);
  config.session.callers = {options.sec, options.mounted_by_another};
  config.session.answer_limit.longest = options.patience.longest_answer();
  config.session.answer_limit.error_number = options.patience.error_number;
  config.session.io_uring = options.io_uring && options.program.record_file.empty();
  config.retry = options.program.retry;
  config.foreground = options.program.foreground;
  config.log_file = !options.program.log_file.empty();
  return config;
}

/// Named after this process, which is the one in the background by now.
std::string control_socket_path(const ProgramOptions& program) {
  if (program.control == "off") return {};
  if (program.control != "auto") return program.control;
  const std::string directory = control_directory();
  auto made = make_control_directory(directory);
  if (made) {
    for (const auto& own : control_directories()) remove_deserted_sockets(own);
    return control_path(directory, ::getpid());
  }
  log::warning("no nfsrdmactl for this mount: {}", made.error().message());
  return {};
}

log::Level log_level(const ProgramOptions& program) {
  if (program.debug) return log::Level::debug;
  return program.verbose || program.foreground ? log::Level::info : log::Level::warning;
}

Result<void> configure_log(const Options& options) {
  const auto& program = options.program;
  const auto level = log_level(program);
  if (program.log_file.empty()) {
    log::configure(program.foreground ? log::Sink::standard_error : log::Sink::system_log, level,
                   options.mount_point);
  } else {
    TRY(log::configure_file(program.log_file, level, options.mount_point));
  }
  // A user who mounts in the background does not read the log before something goes wrong.
  const bool follow = !program.foreground && (program.verbose || !options.notices.empty());
  if (follow) log::follow_on_terminal();
  for (const auto& notice : options.notices) log::write(log::Level::info, notice);
  if (follow && !program.verbose) log::leave_terminal();
  // A start that is followed writes by itself until the mount is live (StartReport::succeeded).
  if (!follow || !program.verbose) log::write_beside();
  for (const auto& note : options.notes) log::info("{}", note);
  return {};
}

/// Beside the control socket, if nobody else may write there.
std::string owner_directory(const std::string& control_path) {
  const std::string directory = std::filesystem::path(control_path).parent_path();
  std::error_code none;
  const bool safe =
      std::filesystem::is_directory(directory, none) && make_control_directory(directory);
  return safe ? directory : std::string();
}

/// `arguments`: of the command.
int serve(const Options& options, std::optional<StatisticsFile> stats, StartReport report,
          std::span<char*> arguments) {
  DeathGuard guard = DeathGuard::start(arguments);
  const int guard_failed = guard ? 0 : errno;
  auto logging = configure_log(options);
  if (!logging) {
    const auto failure = describe_failure(options.source.text, logging.error());
    report.failed(failure.code, failure.line);
    return failure.code;
  }
  if (!guard) {
    log::warning("no process guards this mount against the death of the program: {}",
                 std::strerror(guard_failed));
  }
  guard_process();
  BusyPoll busy_poll(options.program.busy_poll);
  auto reactor = make_epoll_reactor(busy_poll);
  std::unique_ptr<Recording> recording;
  if (!options.program.record_file.empty()) {
    auto created = Recording::create(*reactor, options);
    if (!created) {
      const auto failure = describe_failure(options.source.text, created.error());
      report.failed(failure.code, failure.line);
      return failure.code;
    }
    recording = std::move(*created);
  }
  DaemonConfig config = daemon_config(options);
  config.busy_poll = &busy_poll;
  config.guard = &guard;
  if (recording) config.session.journal = &recording->requests();
  config.stats = std::move(stats);
  config.control_path = control_socket_path(options.program);
  Options served = options;
  served.program.owner_directory = owner_directory(config.control_path);
  Daemon daemon(*reactor, std::make_unique<NfsBackend>(*reactor, served, recording.get()),
                std::move(config), std::move(report));
  const ExitCode code = daemon.run();
  guard.end();
  log::finish(kLogPatience);
  return code;
}

int mount(Options options, std::span<char*> arguments) {
  auto prepared = prepare(options);
  if (!prepared) return say_failure(options, prepared.error());
  auto stats = open_statistics(options);
  if (!stats) return say_failure(options, stats.error());
  if (options.program.fake) return kSuccess;
  if (options.program.foreground) {
    return serve(options, std::move(*stats), StartReport(), arguments);
  }
  auto background = go_into_background();
  if (!background.report) return background.exit_code;
  // A working directory would keep a file system from being unmounted.
  if (::chdir("/") != 0) log::warning("chdir /: errno {}", errno);
  return serve(options, std::move(*stats), std::move(*background.report), arguments);
}

int remount_live(const CommandLine& line) {
  const auto& options = line.options;
  auto done = enter_namespace(options.program.mount_namespace);
  if (done && !options.program.fake) {
    done = remount(options.source.text, options.mount_point, line.remount);
  }
  return done ? kSuccess : say_failure(options, done.error());
}

/// Those that the caller has closed lead nowhere: what is opened next would become one of them, and
/// go when the program leaves its terminal.
void open_standard_descriptors() {
  int null = 0;
  while (null >= 0 && null <= STDERR_FILENO) null = ::open("/dev/null", O_RDWR);
  if (null > STDERR_FILENO) ::close(null);
}

}  // namespace

int run(int argc, char** argv) {
  open_standard_descriptors();
  // A caller may have it ignored: the kernel then reaps children, and their results are lost.
  ::signal(SIGCHLD, SIG_DFL);
  auto line = parse_command_line(argc, argv);
  if (!line) return say_usage_error(line.error());
  switch (line->action) {
    case Action::show_help: fmt::print("{}", help_text()); return kSuccess;
    case Action::show_version: fmt::print("{}", version_text()); return kSuccess;
    case Action::remount: return remount_live(*line);
    case Action::mount: break;
  }
  return mount(std::move(line->options), {argv, static_cast<std::size_t>(argc)});
}

}  // namespace nfsrdma::fuse
