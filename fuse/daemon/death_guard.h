// A process that outlives the program when that is killed, and ends the mount's connection then.
#pragma once

#include <sys/types.h>

#include <span>

#include "fuse/channel/dead_connection.h"
#include "transport/base/unique_fd.h"

namespace nfsrdma::fuse {

/// A thread that drops the kernel's pages or names waits in the kernel, where no signal reaches it,
/// for a page or a directory that a request holds. When the program is killed, that thread cannot
/// end before the request is answered, and as long as it is there the kernel keeps the connection,
/// and the request waits: all who use the mount would hang for ever. So a small process waits for
/// the end of the program's first thread, ends the connection, and then itself. It has no other
/// descriptors, is of a session of its own, and takes no notice of signals but SIGKILL.
class DeathGuard {
 public:
  /// Without a process: nothing is guarded.
  DeathGuard() = default;
  /// Forks: before there is any thread, by the thread whose end is the program's. Where the system
  /// has no room for a process the guard has none, and errno says why. `arguments` are the
  /// program's, as main() has them: the process shows a name of its own instead.
  static DeathGuard start(std::span<char*> arguments);
  DeathGuard(DeathGuard&&) noexcept = default;
  DeathGuard& operator=(DeathGuard&&) = delete;
  /// Without end() the process takes it that the program dies.
  ~DeathGuard() = default;

  explicit operator bool() const { return process_ > 0; }
  /// The mount is to be guarded. `device` is its /dev/fuse. Also against signals that dump core:
  /// the kernel writes no dump before all threads have come, and so nothing would end.
  void watch(const OwnMount& mount, int device);
  /// The program ends the connection itself: the process ends, and is gone on return.
  void end();

 private:
  pid_t process_ = -1;
  UniqueFd socket_;
};

}  // namespace nfsrdma::fuse
