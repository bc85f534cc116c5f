#include "fuse/session/proc_status.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "transport/base/unique_fd.h"

namespace nfsrdma::fs {
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

}  // namespace

ProcStatus::ProcStatus(pid_t pid) {
  if (pid <= 0) return;
  char path[64];
  *fmt::format_to_n(path, sizeof path - 1, "/proc/{}/status", pid).out = '\0';
  UniqueFd file(::open(path, O_RDONLY | O_CLOEXEC));
  if (!file) return;
  const auto got = ::read(file.get(), text_.data(), text_.size());
  if (got > 0) size_ = static_cast<std::size_t>(got);
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

}  // namespace nfsrdma::fs
