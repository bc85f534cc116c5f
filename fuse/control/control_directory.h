// Where the control sockets of this machine's mounts are: one file a mount, named after its
// process.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "transport/base/result.h"

namespace nfsrdma::fuse {

/// The directory for mounts of this process's user: $XDG_RUNTIME_DIR/nfsrdma, for root
/// /run/nfsrdma, and /tmp/nfsrdma-UID for users that have no runtime directory.
std::string control_directory();

/// All directories in which mounts of this process's user may be: which of them a mount has taken
/// depends on what its environment said.
std::vector<std::string> control_directories();

/// Makes the directory (mode 0700) if it is not there. Fails when it belongs to another user, or
/// when others may write to it: they could put sockets of theirs in it.
Result<void> make_control_directory(const std::string& directory);

/// The socket of the mount whose daemon is process `pid`.
std::string control_path(const std::string& directory, pid_t pid);

/// Removes the sockets of daemons that were killed: the process after which each is named is gone,
/// and no process listens on it. Does nothing in a directory that make_control_directory() refuses.
void remove_deserted_sockets(const std::string& directory);

/// A socket, and the user in whose directory it lies. Whose the process is that listens on it, the
/// path does not say: it may be a symbolic link.
struct SocketOfUser {
  std::string path;
  uid_t user = 0;
};

/// Sockets of all mounts that this process's user may ask, those of every user for root. The first
/// of each directory come first, so that a user with many of them delays no other.
std::vector<SocketOfUser> control_sockets();

}  // namespace nfsrdma::fuse
