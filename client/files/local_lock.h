// Locks that only this client knows of. While it holds the write delegation of a file no other
// client can lock it, so only the lock-owners on this mount compete; before the delegation is
// returned, the locks are requested from the server. Under a read delegation every lock is the
// server's (RFC 8881 section 10.4.2).
#pragma once

#include <optional>

#include "client/files/lock.h"

namespace nfsrdma::client {

/// The side that decides about a new lock. All owners of a file ask the same side, because neither
/// knows the locks of the other.
enum class LockKeeper : std::uint8_t {
  server,
  client,
  changing,  ///< from the client to the server: the delegation is being returned, or recovered
};

LockKeeper lock_keeper(Files& files, const FileHandle& file);
/// Waits until it is not `changing`, and, if it is this client, until the lease is certain to hold.
/// An error: the mount is ending.
Task<Result<void>> decide_lock_keeper(Files& files, FileHandle file);

/// Checks a lock request on a file whose locks are kept here. Refuses it as the server would:
/// NFS4ERR_DENIED, NFS4ERR_OPENMODE.
Result<void> lock_locally(Files& files, const OpenFileRef& file, const WantedLock& wanted);
/// The lock of this mount that conflicts with the request, if there is one.
std::optional<LockConflict> local_conflict(Files& files, const FileHandle& file,
                                           const WantedLock& wanted);

/// Call before a delegation is returned: requests every lock of the open from the server. If one is
/// refused, all locks of its owner on the file are lost.
Task<void> establish_locks(Files& files, OpenFileRef file);

}  // namespace nfsrdma::client
