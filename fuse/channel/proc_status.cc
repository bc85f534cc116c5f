#include "fuse/channel/proc_status.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <span>

#include "transport/base/file_start.h"

namespace nfsrdma::fuse {
namespace {

constexpr int kHexadecimal = 16;

using SignalSet = std::uint64_t;

constexpr SignalSet bit(int signal_number) { return SignalSet{1} << (signal_number - 1); }

/// Signals whose default action does not end the process.
constexpr SignalSet kHarmless = bit(SIGCHLD) | bit(SIGCONT) | bit(SIGURG) | bit(SIGWINCH) |
                                bit(SIGSTOP) | bit(SIGTSTP) | bit(SIGTTIN) | bit(SIGTTOU);

SignalSet signal_set(std::string_view status, std::string_view name) {
  const auto field = status_field(status, name);
  SignalSet set = 0;
  std::from_chars(field.data(), field.data() + field.size(), set, kHexadecimal);
  return set;
}

/// PF_EXITING of the kernel's task flags, set from the beginning of exit(2).
constexpr std::uint64_t kExitingFlag = 0x4;
/// The place of the task flags among the words behind the program's name (proc_pid_stat(5): 9).
constexpr int kFlagsWord = 7;

/// What /proc/<pid>/<name> begins with; 0 bytes when it cannot be read.
std::size_t read_file_of(pid_t pid, const char* name, std::span<char> text) {
  if (pid <= 0) return 0;
  char path[64];
  *fmt::format_to_n(path, sizeof path - 1, "/proc/{}/{}", pid, name).out = '\0';
  return read_start_of(path, text).size();
}

}  // namespace

ProcStatus::ProcStatus(Reactor& reactor, pid_t pid) {
  size_ = reactor.from_outside("/proc/PID/status", std::as_writable_bytes(std::span(text_)),
                               read_file_of(pid, "status", text_));
  // Whether a thread exists is said of those that /proc hides, too.
  const bool gone = size_ == 0 && pid > 0 && ::kill(pid, 0) != 0 && errno == ESRCH;
  gone_ = reactor.seen("process is gone", gone);
}

std::string_view status_field(std::string_view status, std::string_view name) {
  for (std::size_t start = 0; start < status.size();) {
    const auto end = std::min(status.find('\n', start), status.size());
    const auto line = status.substr(start, end - start);
    if (line.starts_with(name) && line.substr(name.size()).starts_with(':')) {
      auto value = line.substr(name.size() + 1);
      value.remove_prefix(std::min(value.find_first_not_of(" \t"), value.size()));
      return value;
    }
    start = end + 1;
  }
  return {};
}

bool is_being_killed(std::string_view status) {
  const SignalSet pending = signal_set(status, "SigPnd") | signal_set(status, "ShdPnd");
  // A fatal signal is turned into SIGKILL for every thread when it is sent, unless it dumps core.
  if (pending & bit(SIGKILL)) return true;
  const SignalSet kept = signal_set(status, "SigBlk") | signal_set(status, "SigIgn") |
                         signal_set(status, "SigCgt") | kHarmless;
  return (pending & ~kept) != 0;
}

// The program's name may have anything in it; nothing behind it has a parenthesis.
bool is_exiting(std::string_view stat) {
  auto words = stat.substr(std::min(stat.rfind(')'), stat.size()));
  for (int word = 0; word < kFlagsWord; ++word) {
    words.remove_prefix(std::min(words.find(' '), words.size()));
    words.remove_prefix(std::min<std::size_t>(words.size(), 1));
  }
  std::uint64_t flags = 0;
  std::from_chars(words.data(), words.data() + words.size(), flags);
  return (flags & kExitingFlag) != 0;
}

namespace {

Life present_life_of(pid_t pid) {
  if (pid <= 0) return Life::goes_on;
  // A hidden process is there all the same: EPERM.
  if (::kill(pid, 0) != 0 && errno == ESRCH) return Life::gone;
  std::array<char, 512> text;
  const std::size_t size = read_file_of(pid, "stat", text);
  return is_exiting({text.data(), size}) ? Life::exiting : Life::goes_on;
}

}  // namespace

Life life_of(Reactor& reactor, pid_t pid) {
  return reactor.seen("life of a process", present_life_of(pid));
}

}  // namespace nfsrdma::fuse
