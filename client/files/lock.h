// LOCK, LOCKT and LOCKU (RFC 8881 sections 18.10 to 18.12).
#pragma once

#include <optional>

#include "client/proto/object.h"
#include "client/requests/lock.h"
#include "client/state/lock_state.h"
#include "client/state/open_file.h"

namespace nfsrdma::client {

struct Files;

/// A request for a lock.
struct WantedLock {
  LockOwner owner;
  std::int32_t pid = 0;  ///< of the process that asks; for F_GETLK of others on this mount
  ByteRange range;
  bool exclusive = false;
  /// The caller will ask again when it is refused: the server may tell when to (CB_NOTIFY_LOCK).
  bool will_wait = false;
  Credential caller{};  ///< that asks the server
};

/// A lock that was granted: what take_back_lock() needs.
struct LockGrant {
  OpenFileRef file;
  WantedLock lock;
  LockRanges replaced;  ///< what the owner held of the range before
};

/// The lock that conflicts with a wanted one.
struct LockConflict {
  ByteRange range;
  bool exclusive = false;
  std::int32_t pid = 0;  ///< 0: held by another client
};

/// One attempt; nothing is sent while the file's locks are kept here (local_lock.h).
/// NFS4ERR_DENIED: a lock of another owner conflicts. `file` must be open for reading for a shared
/// lock, for writing for an exclusive one, else NFS4ERR_OPENMODE.
Task<Result<LockGrant>> lock(Files& files, OpenFileRef file, WantedLock wanted);
/// Nobody takes the lock: of what its owner still has of it the rest is unlocked, and what it has
/// replaced is of its former kind again.
Task<Result<void>> take_back_lock(Files& files, LockGrant grant);
/// Unlocks the owner's part of the range. Sends nothing if that is empty, or locks are kept here.
Task<Result<void>> unlock(Files& files, OpenFileRef file, LockOwner owner, ByteRange range);
/// The owner is done with the file: gives back every lock, and the server may forget the owner.
Task<Result<void>> unlock_all(Files& files, OpenFileRef file, LockOwner owner);
/// The lock that conflicts with `wanted`, if any. Sends nothing while locks are kept here.
Task<Result<std::optional<LockConflict>>> test_lock(Files& files, OpenFileRef file,
                                                    WantedLock wanted);

/// LOCK for as long as that is worth while, on an open that the server knows. One request of an
/// owner at a time. DELAY and GRACE are waited for until `patience` has passed.
Task<Result<void>> lock_at_server(Files& files, OpenFileRef file, FileLocks::LockRef lock,
                                  WantedLock wanted, Duration patience);
/// LOCKU.
Task<Result<void>> unlock_at_server(Files& files, OpenFileRef file, FileLocks::LockRef lock,
                                    ByteRange range);
/// LOCK in the name of the owner's stateid, or, while it has none, of the open's.
LockRequest request_for(const OpenFileRef& file, const FileLocks::LockRef& lock,
                        const WantedLock& wanted);

}  // namespace nfsrdma::client
