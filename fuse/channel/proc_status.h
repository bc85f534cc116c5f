// Reading /proc/<pid>/status.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <string_view>

#include "transport/base/reactor.h"

namespace nfsrdma::fuse {

/// The status text of one thread, as far as it is of interest here.
class ProcStatus {
 public:
  /// `pid` is a thread's number in this program's pid namespace; 0 is a thread of another one. The
  /// reactor is told what is seen, and not kept.
  ProcStatus(Reactor& reactor, pid_t pid);
  /// False when the thread is gone, or hidden from this program.
  bool readable() const { return size_ > 0; }
  /// Nothing can be known of the thread, which may well run: /proc is mounted with hidepid= or not
  /// at all, or the thread is in another pid namespace.
  bool hidden() const { return size_ == 0 && !gone_; }
  std::string_view text() const { return {text_.data(), size_}; }

 private:
  // The groups come early; a list of thousands would cut off the signal sets that follow it.
  static constexpr std::size_t kMost = 16384;
  std::array<char, kMost> text_;
  std::size_t size_ = 0;
  bool gone_ = false;
};

/// The value of one line ("Groups", "SigPnd") without its blanks; empty when there is none.
std::string_view status_field(std::string_view status, std::string_view name);

/// Whether the thread with this status cannot go on running: SIGKILL is pending, or a signal that
/// will end it. Signals that are caught or ignored do not count.
bool is_being_killed(std::string_view status);

/// Whether a thread still runs programs, as far as /proc tells.
enum class Life : std::uint8_t {
  goes_on,  ///< or not known: it is hidden, or of another pid namespace
  exiting,  ///< in exit(2), or a zombie: it sees no signal any more, and no result
  gone,
};
Life life_of(Reactor& reactor, pid_t pid);

/// The same from the text of /proc/<pid>/stat.
bool is_exiting(std::string_view stat);

}  // namespace nfsrdma::fuse
