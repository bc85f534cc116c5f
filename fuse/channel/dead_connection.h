// Ending the kernel's side of a connection whose program has been killed, from another process.
#pragma once

#include <sys/types.h>

#include <array>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <span>

#include "fuse/channel/own_mount.h"

namespace nfsrdma::fuse {

/// What a process needs that outlives the program; made while that lives. It is sent as it lies.
struct DeadConnection {
  /// The program: its process, and a descriptor of that (pidfd); -1: the kernel has none.
  pid_t program = -1;
  int process = -1;
  /// By which it knows /dev/fuse.
  int device = -1;
  /// What that leads to: a thread with descriptors of its own may have a file of the mount at the
  /// same number, and to ask of what kind it is could wait for the program.
  std::array<char, 32> device_link{};
  /// A descriptor of the mount's abort file in /sys/fs/fuse/connections; -1: there is none.
  int abort_file = -1;
  std::array<char, PATH_MAX> mount_point{};  ///< empty: there is none to be forced
  std::array<char, 32> mount_device{};       ///< as in OwnMount
  std::uint64_t mount_id = 0;
};

/// DeadConnection::device_link of a descriptor of the calling process; zeros: it has none.
std::array<char, 32> device_link_of(int descriptor);

/// Ends the connection, if the program's end does not. `room` takes any request of the kernel. May
/// return only when the program is gone. For the only thread of a process, which takes no signals.
void end_dead_connection(const DeadConnection& connection, std::span<std::byte> room);

}  // namespace nfsrdma::fuse
