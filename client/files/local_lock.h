// Locks that only this client knows of. While it holds the write delegation of a file nobody else
// can lock it, so locks are a matter between the lock-owners on this mount; before the delegation
// goes, the server is asked for them. Under a read delegation every lock is the server's
// (RFC 8881 section 10.4.2).
#pragma once

#include <optional>

#include "client/files/lock.h"

namespace nfsrdma::client {

/// Who decides about a lock that is wanted now. One of the two for all owners of a file: neither
/// knows what the other has granted.
enum class LockKeeper : std::uint8_t {
  server,
  client,
  changing,  ///< from the client to the server: the delegation is being returned, or recovered
};

LockKeeper lock_keeper(Files& files, const FileHandle& file);
/// Ends when that is clear, and if it is this client, when the lease is certain to hold. An error:
/// the mount is ending.
Task<Result<void>> decide_lock_keeper(Files& files, FileHandle file);

/// Whether a lock may be had, for a file whose locks are kept here. Refused as the server would
/// refuse it: NFS4ERR_DENIED, NFS4ERR_OPENMODE.
Result<void> lock_locally(Files& files, const OpenFileRef& file, const LockWish& wish);
/// The lock of this mount that conflicts with the request, if there is one.
std::optional<LockConflict> local_conflict(Files& files, const FileHandle& file,
                                           const LockWish& wish);

/// Before a delegation is returned: has the server know every lock of the open. What it does not
/// grant is lost, with all that the owner has locked there.
Task<void> establish_locks(Files& files, OpenFileRef file);

}  // namespace nfsrdma::client
