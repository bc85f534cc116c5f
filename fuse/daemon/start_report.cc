#include "fuse/daemon/start_report.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "transport/base/log_terminal.h"
#include "transport/base/log_thread.h"
#include "transport/base/write_all.h"

namespace nfsrdma::fuse {
namespace {

constexpr const char* kProgram = "nfsrdma";

/// Standard input, output and error lead nowhere in the background.
void leave_terminal() {
  ::setsid();
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0) return;
  for (int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(null, standard);
  if (null > STDERR_FILENO) ::close(null);
}

std::string read_all(int fd) {
  std::string text;
  std::array<char, 1024> piece;
  for (;;) {
    const auto got = ::read(fd, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
}

/// The child ended without a word.
ExitCode died(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGINT || WTERMSIG(status) == SIGTERM)) {
    return kInterrupted;
  }
  const std::string how =
      WIFSIGNALED(status)
          ? fmt::format("killed by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)))
          : fmt::format("ended with code {}", WEXITSTATUS(status));
  fmt::print(stderr, "{}: internal failure: the program was {}\n", kProgram, how);
  return kInternalBug;
}

ExitCode wait_for_report(int from_child, pid_t child) {
  const std::string text = read_all(from_child);
  if (text.empty()) return died(child);
  const auto code = static_cast<ExitCode>(static_cast<unsigned char>(text.front()));
  if (code != kSuccess) ::waitpid(child, nullptr, 0);
  if (text.size() > 1) fmt::print(stderr, "{}", text.substr(1));
  return code;
}

}  // namespace

Result<void> StartReport::succeeded() {
  if (!parent_) return {};
  const bool heard = write_all(parent_.get(), std::string(1, static_cast<char>(kSuccess)));
  parent_.reset();
  log::leave_terminal();
  log::write_beside();
  if (!heard) return fail(Error::local(EINTR, "mount", "the command that mounts was ended"));
  leave_terminal();
  return {};
}

void StartReport::failed(ExitCode code, const std::string& line) {
  const auto text = fmt::format("{}: {}\n", kProgram, line);
  if (!parent_) {
    fmt::print(stderr, "{}", text);
    return;
  }
  write_all(parent_.get(), static_cast<char>(code) + text);
  parent_.reset();
}

Background go_into_background() {
  std::array<int, 2> ends;
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    fmt::print(stderr, "{}: pipe: {}\n", kProgram, std::strerror(errno));
    return {std::nullopt, kSystem};
  }
  UniqueFd from_child(ends[0]);
  UniqueFd to_parent(ends[1]);
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child < 0) {
    fmt::print(stderr, "{}: fork: {}\n", kProgram, std::strerror(errno));
    return {std::nullopt, kSystem};
  }
  if (child == 0) return {StartReport(std::move(to_parent)), kSuccess};
  to_parent.reset();
  return {std::nullopt, wait_for_report(from_child.get(), child)};
}

}  // namespace nfsrdma::fuse
