#include "fuse/channel/mount_point.h"

#include <fcntl.h>
#include <fuse_log.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "fuse/channel/mount_table.h"
#include "fuse/channel/unmount.h"
#include "transport/base/line_text.h"
#include "transport/base/log.h"
#include "transport/base/unique_fd.h"

namespace nfsrdma::fuse {
namespace {

constexpr const char* kStep = "mount";
constexpr const char* kDevice = "/dev/fuse";
constexpr std::string_view kOurType = "fuse.nfsrdma";
/// A mount that is dead says so at once.
constexpr int kDeadMilliseconds = 2000;

std::string* collected = nullptr;

void collect(enum fuse_log_level level, const char* format, va_list arguments) {
  std::array<char, 512> line;
  std::vsnprintf(line.data(), line.size(), format, arguments);
  if (collected) {
    *collected += line.data();
  } else if (level <= FUSE_LOG_WARNING) {
    std::string_view text(line.data());
    while (text.ends_with('\n')) text.remove_suffix(1);
    log::warning("libfuse: {}", text);
  }
}

std::string last_line_of(std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  text.remove_prefix(text.rfind('\n') + 1);
  for (std::string_view prefix : {"fusermount3: ", "fuse: "}) {
    if (text.starts_with(prefix)) text.remove_prefix(prefix.size());
  }
  return std::string(text);
}

/// Sends standard error into memory while it lives: fusermount3 prints there.
class CaptureStandardError {
 public:
  CaptureStandardError()
      : memory_(::memfd_create("messages", MFD_CLOEXEC)),
        saved_(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)) {
    if (memory_ && saved_) ::dup2(memory_.get(), STDERR_FILENO);
  }
  CaptureStandardError(const CaptureStandardError&) = delete;
  CaptureStandardError& operator=(const CaptureStandardError&) = delete;
  ~CaptureStandardError() {
    if (memory_ && saved_) ::dup2(saved_.get(), STDERR_FILENO);
  }

  std::string text() const {
    std::array<char, 2048> bytes;
    const auto got = ::pread(memory_.get(), bytes.data(), bytes.size(), 0);
    return got > 0 ? std::string(bytes.data(), static_cast<std::size_t>(got)) : std::string();
  }

 private:
  UniqueFd memory_;
  UniqueFd saved_;
};

Result<void> check_device() {
  if (::access(kDevice, R_OK | W_OK) == 0) return {};
  if (errno == EACCES || errno == EPERM) {
    return fail(Error::local(EACCES, kDevice,
                             "the device must be readable and writable for this user; as root: "
                             "chmod 0666 /dev/fuse"));
  }
  return fail(
      Error::local(errno, kDevice, "as root: modprobe fuse; a container needs --device /dev/fuse"));
}

/// -u would fail where a program has something open there.
Error dead_mount(const std::string& path) {
  return Error::local(EBUSY, kStep,
                      path + " is a dead mount, whose program has ended; fusermount3 -uz " + path +
                          " frees it (as root: umount -l)");
}

/// Asked by a process of its own, as a mount that is not dead may not answer.
bool is_known_dead(const char* path) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(is_dead(path) ? 1 : 0);
  if (child < 0) return false;
  // glibc 2.36 declares pidfd_open for C only.
  const UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
  pollfd end{process.get(), POLLIN, 0};
  if (::poll(&end, 1, kDeadMilliseconds) == 0) ::kill(child, SIGKILL);
  int status = 0;
  const bool ended = ::waitpid(child, &status, WNOHANG) == child;
  return ended && WIFEXITED(status) && WEXITSTATUS(status) == 1;
}

/// A device that was passed must be character device 10:229, which is /dev/fuse.
Result<void> check_passed(int device, const std::string& path) {
  constexpr unsigned kMiscMajor = 10;
  constexpr unsigned kFuseMinor = 229;
  struct stat status {};
  const bool ours = ::fstat(device, &status) == 0 && S_ISCHR(status.st_mode) &&
                    status.st_rdev == makedev(kMiscMajor, kFuseMinor);
  if (ours) return {};
  return fail(Error::local(EBADF, kStep, path + " is not an open /dev/fuse"));
}

struct Remedy {
  std::string_view said;
  int error_number;
  const char* detail;
};

/// Found by the words of libfuse or fusermount3, as neither gives a code.
constexpr Remedy kRemedies[] = {
    {"failed to exec fusermount3", ENOENT,
     "fusermount3 is missing: install the package fuse3, or mount as root"},
    {"user_allow_other", EPERM,
     "allow_other and allow_root need the line user_allow_other in /etc/fuse.conf, or root"},
    {"no write access to mountpoint", EACCES, "the mount point must be writable for this user"},
    {"too many FUSE filesystems", EUSERS, "the limit is mount_max in /etc/fuse.conf"},
    {"mounting over filesystem type", EPERM,
     "an ordinary user may not mount over this type of file system"},
    {"Operation not permitted", EPERM,
     "fusermount3 must be set-user-ID root, and a container needs the right to mount"},
};

}  // namespace

FuseLog::FuseLog() {
  collected = &text_;
  fuse_set_log_func(collect);
}

FuseLog::~FuseLog() { collected = nullptr; }

std::string FuseLog::last_line() const { return last_line_of(text_); }

Error explain_mount_failure(const std::string& said, const std::string& mount_point) {
  for (const auto& remedy : kRemedies) {
    if (said.find(remedy.said) == std::string::npos) continue;
    return Error::local(remedy.error_number, kStep, remedy.detail);
  }
  const auto line = last_line_of(said);
  return Error::local(EIO, kStep, line.empty() ? "on " + mount_point : line);
}

std::optional<int> passed_device(const std::string& mount_point) {
  constexpr std::string_view kPrefix = "/dev/fd/";
  if (!mount_point.starts_with(kPrefix)) return std::nullopt;
  const auto descriptor = whole_number<int>(mount_point.substr(kPrefix.size()));
  return descriptor.value_or(-1) < 0 ? std::nullopt : descriptor;
}

Result<std::string> check_mount_point(const std::string& path) {
  if (const auto device = passed_device(path)) {
    TRY(check_passed(*device, path));
    return path;
  }
  struct stat status;
  if (::stat(path.c_str(), &status) != 0) {
    const int error_number = errno;
    if (error_number == ENOTCONN) return fail(dead_mount(path));
    return fail(Error::local(error_number, kStep, "mount point " + path));
  }
  if (!S_ISDIR(status.st_mode)) {
    return fail(Error::local(ENOTDIR, kStep, "mount point " + path));
  }
  std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr), &std::free);
  if (!real) return fail(Error::from_errno(errno, kStep, "mount point " + path));
  const auto mounted = find_mount(real.get());
  if (mounted && mounted->type == kOurType) {
    // The kernel may know the attributes of its root for a while.
    if (is_known_dead(real.get())) return fail(dead_mount(real.get()));
    return fail(Error::local(EBUSY, kStep,
                             mounted->source + " is mounted on " + path +
                                 " already; fusermount3 -u " + path + " removes it"));
  }
  return std::string(real.get());
}

Result<void> mount_session(fuse_session& session, const std::string& mount_point) {
  if (!passed_device(mount_point)) TRY(check_device());
  FuseLog said_by_library;
  std::string said;
  {
    CaptureStandardError said_by_helper;
    if (fuse_session_mount(&session, mount_point.c_str()) == 0) return {};
    said = said_by_library.text() + said_by_helper.text();
  }
  log::debug("mount on {}: {}", mount_point, said);
  return fail(explain_mount_failure(said, mount_point));
}

}  // namespace nfsrdma::fuse
