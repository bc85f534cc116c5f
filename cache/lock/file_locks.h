// What the lock operations have in common.
#pragma once

#include "cache/write/write_back.h"
#include "client/files/lock.h"
#include "client/files/locked_io.h"

namespace nfsrdma::cache {

/// The locks of the file are kept by this mount alone while it has the write delegation: no other
/// client sees what is written under them, or writes (RFC 8881 section 10.4.2).
bool locked_here(client::Mount& mount, const client::FileHandle& file);
/// Gives back what `owner` has locked in the range, through whichever of the inode's open files.
/// What was written under the lock is at the server by then, unless locked_here().
Task<Result<void>> unlock_everywhere(WriteBack& writes, std::shared_ptr<OpenInode> open,
                                     client::LockOwner owner, client::ByteRange range);
/// `owner` is done with the file. Failures are logged: there is no caller to tell.
/// False when the server had revoked a lock and no caller had been told.
Task<bool> release_locks(WriteBack& writes, std::shared_ptr<OpenInode> open,
                         client::LockOwner owner);
/// Through `file` no more locks can be taken: what open file descriptions (F_OFD_SETLK) have locked
/// through it is released.
Task<void> release_description_locks(WriteBack& writes, FileRef file);
/// Whether `owner` has anything to be released.
bool may_hold_locks(OpenInode& open, const client::LockOwner& owner);

}  // namespace nfsrdma::cache
