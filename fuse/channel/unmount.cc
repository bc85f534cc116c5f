#include "fuse/channel/unmount.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mount.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "transport/base/sync/event.h"
#include "transport/base/unique_fd.h"

namespace nfsrdma::fuse {
namespace {

constexpr const char* kUnmountStep = "unmount";

/// Any error number that umount2 does not give; fusermount3 ends with 1.
constexpr int kNotOwn = ESTALE;

/// Of the descriptors only the standard ones stay. A child that waits in the kernel would keep the
/// connection alive with /dev/fuse, and so wait for ever once its parent has ended.
void close_descriptors() { ::syscall(SYS_close_range, STDERR_FILENO + 1U, ~0U, 0U); }

/// Runs in the child. Ends with an errno value, or with fusermount3's exit code.
[[noreturn]] void unmount_in_child(const OwnMount& mount, const char* path, UnmountMode mode) {
  close_descriptors();
  // Compared at the last moment: another mount may lie there by now.
  if (!lies_at(mount, path)) ::_exit(kNotOwn);
  if (mode == UnmountMode::dead && !is_dead(path)) ::_exit(0);
  const bool detach = mode != UnmountMode::clean;
  if (::umount2(path, UMOUNT_NOFOLLOW | (detach ? MNT_DETACH : 0)) == 0) ::_exit(0);
  if (errno != EPERM) ::_exit(errno);
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  ::dup2(null, STDERR_FILENO);
  if (detach) {
    ::execlp("fusermount3", "fusermount3", "-u", "-z", "-q", "--", path, nullptr);
  } else {
    ::execlp("fusermount3", "fusermount3", "-u", "-q", "--", path, nullptr);
  }
  ::_exit(errno);
}

/// Sets an event when a process has ended.
class ProcessEnd final : private FdHandler {
 public:
  ProcessEnd(Reactor& reactor, int process)
      : reactor_(reactor), process_(process), ended_(reactor) {
    if (!reactor.watch(process, EPOLLIN, *this)) ended_.set();
  }
  ProcessEnd(const ProcessEnd&) = delete;
  ProcessEnd& operator=(const ProcessEnd&) = delete;
  ~ProcessEnd() { reactor_.unwatch(process_); }

  Event::Wait wait(Duration patience) { return ended_.wait(patience); }

 private:
  void on_ready(std::uint32_t) override {
    reactor_.unwatch(process_);
    ended_.set();
  }

  Reactor& reactor_;
  const int process_;
  Event ended_;
};

Result<void> outcome(pid_t child, UnmountMode mode) {
  int status = 0;
  const pid_t ended = ::waitpid(child, &status, WNOHANG);
  if (ended == 0) {
    // The path leads to another program's mount, which does not answer.
    if (mode == UnmountMode::dead) ::kill(child, SIGKILL);
    return fail(Error::local(ETIMEDOUT, kUnmountStep));
  }
  if (ended < 0) return fail(Error::from_errno(errno, kUnmountStep));
  if (!WIFEXITED(status)) return fail(Error::local(ECHILD, kUnmountStep, "the helper was killed"));
  const int code = WEXITSTATUS(status);
  if (code == kNotOwn) return fail(Error::local(code, kUnmountStep, "another mount lies there"));
  // fusermount3 says 1 for every failure; in this program's life that is a mount in use.
  if (code != 0) return fail(Error::local(code == 1 ? EBUSY : code, kUnmountStep));
  return {};
}

}  // namespace

bool is_dead(const char* path) {
  struct statfs ignored {};
  return ::statfs(path, &ignored) != 0 && errno == ENOTCONN;
}

Task<Result<void>> unmount(Reactor& reactor, OwnMount mount, std::string path, UnmountMode mode,
                           Duration patience) {
  const pid_t child = ::fork();
  if (child < 0) co_return fail(Error::from_errno(errno, kUnmountStep));
  if (child == 0) unmount_in_child(mount, path.c_str(), mode);
  // glibc 2.36 declares pidfd_open for C only.
  UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
  if (!process) co_return fail(Error::from_errno(errno, kUnmountStep));
  ProcessEnd end(reactor, process.get());
  co_await end.wait(patience);
  auto result = outcome(child, mode);
  co_return result;
}

UniqueFd open_abort_file(const std::string& device) {
  // Connections are named by their device number, whose major part is 0.
  const auto number = device.substr(device.find(':') + 1);
  const auto file = "/sys/fs/fuse/connections/" + number + "/abort";
  return UniqueFd(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
}

bool abort_connection(const std::string& device) {
  const UniqueFd abort = open_abort_file(device);
  return abort && ::write(abort.get(), "1", 1) == 1;
}

}  // namespace nfsrdma::fuse
