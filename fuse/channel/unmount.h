// Unmounting from within the program that serves the mount, without blocking it.
#pragma once

#include <string>

#include "fuse/channel/own_mount.h"
#include "transport/base/reactor.h"
#include "transport/base/result.h"
#include "transport/base/task.h"
#include "transport/base/unique_fd.h"

namespace nfsrdma::fuse {

enum class UnmountMode {
  clean,  ///< only when nothing uses the mount any more
  lazy,   ///< takes the mount out of the tree at once, also if it is in use, with all mounts below
          ///< it
  dead,   ///< lazy, but only when its connection has ended; else it does nothing
};

/// Unmounts in a process of its own (umount2, or fusermount3 for an ordinary user), so that the
/// caller can go on answering the requests that unmounting makes. Only `mount` itself: ESTALE when
/// another mount lies on `path`. Gives up waiting after `patience`; an error says why the mount is
/// still there.
Task<Result<void>> unmount(Reactor& reactor, OwnMount mount, std::string path, UnmountMode mode,
                           Duration patience);

/// Whether a mount lies there whose connection has ended, which answers at once. Waits for the
/// program of a mount that is not dead. Async-signal-safe.
bool is_dead(const char* path);

/// The file that ends the kernel's side of a connection when something is written to it; nothing
/// without /sys/fs/fuse/connections. `device` is the mount's, "0:53", and its connection has not
/// ended: the kernel may have given the number to another since.
UniqueFd open_abort_file(const std::string& device);

/// Ends the kernel's side of the connection at once: every request that waits fails with ENOTCONN.
/// `device` as above. Needs /sys/fs/fuse/connections; says whether it was there.
bool abort_connection(const std::string& device);

}  // namespace nfsrdma::fuse
