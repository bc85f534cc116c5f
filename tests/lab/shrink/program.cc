#include "tests/lab/shrink/program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace nfsrdma::lab::shrink {
namespace {

/// In a process group of its own, so that it can be ended with what it has started.
Result<pid_t> start(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  pid_t pid = 0;
  const int error =
      ::posix_spawnp(&pid, arguments[0], &files, &attributes, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&files);
  ::posix_spawnattr_destroy(&attributes);
  if (error != 0) return fail(Error::from_errno(error, "run", words.front()));
  return pid;
}

/// Whether it has ended before the time was over.
bool ends_within(pid_t pid, Duration limit) {
  // glibc 2.36 declares pidfd_open for C alone.
  const int watched = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  if (watched < 0) return true;  // the wait that follows is without a limit
  pollfd ready{watched, POLLIN, 0};
  const auto patience = std::chrono::duration_cast<std::chrono::milliseconds>(limit).count();
  int found = 0;
  do {
    found = ::poll(&ready, 1, static_cast<int>(patience));
  } while (found < 0 && errno == EINTR);
  ::close(watched);
  return found > 0;
}

}  // namespace

Result<std::string> run_program(const std::vector<std::string>& words, Duration limit) {
  auto pid = start(words);
  if (!pid) return fail_from(pid);
  const bool ended = ends_within(*pid, limit);
  if (!ended) ::kill(-*pid, SIGKILL);
  int status = 0;
  while (::waitpid(*pid, &status, 0) < 0 && errno == EINTR) continue;
  if (!ended) return std::string("no end");
  if (WIFSIGNALED(status)) return fmt::format("signal {}", WTERMSIG(status));
  return fmt::format("exit status {}", WEXITSTATUS(status));
}

}  // namespace nfsrdma::lab::shrink
