// What the lock operations have in common.
#pragma once

#include "client/files/lock.h"
#include "client/files/locked_io.h"
#include "fuse/ops/file_system.h"

namespace nfsrdma::fuse {

/// Locks on the file are a matter of this mount alone, while it has the write delegation: nobody
/// else sees what is written under them, or writes (RFC 8881 section 10.4.2).
bool locked_here(FileSystem& fs, const client::FileHandle& file);
/// Gives back what `owner` has locked in the range, through whichever of the inode's open files.
/// What was written under the lock is at the server by then, unless locked_here().
Task<Result<void>> unlock_everywhere(FileSystem& fs, std::shared_ptr<OpenInode> open,
                                     client::LockOwner owner, client::ByteRange range);
/// `owner` is done with the file. Failures are logged: nobody is left to be told.
/// False when the server had taken a lock away, and nobody had been told.
Task<bool> release_locks(FileSystem& fs, std::shared_ptr<OpenInode> open, client::LockOwner owner);
/// Through `file` no more locks can be taken: what open file descriptions (F_OFD_SETLK) have locked
/// through it is released.
Task<void> release_description_locks(FileSystem& fs, FileRef file);
/// `owner` asks for an fcntl lock through `file`; `owner` closes a descriptor of some open file.
void note_locker(File& file, std::uint64_t owner);
void forget_locker(OpenInode& open, std::uint64_t owner);
/// Whether `owner` has anything to be released.
bool may_hold_locks(OpenInode& open, const client::LockOwner& owner);

/// Who reads or writes, as far as the kernel says: its lock owner where it knows one (direct I/O),
/// else 0; the pid of the calling thread, 0 for pages that it writes back itself.
struct IoCaller {
  std::uint64_t owner = 0;
  std::int32_t pid = 0;
};
/// The lock in whose name he reads or writes the range; null: none (client/files/locked_io.h).
client::FileLocks::LockRef lock_for_io(const File& file, IoCaller caller, client::ByteRange range);
/// What the requests of that I/O name: the lock, or the open.
client::StateRef io_state(const File& file, const client::FileLocks::LockRef& lock);
client::ByteRange io_range(std::uint64_t offset, std::size_t length);
/// There is one, the server has taken it away, and its owner is told so now (EIO).
bool lost(const client::FileLocks::LockRef& lock);

/// After a lock was granted: what others wrote before it is seen from now on. The kernel keeps no
/// page of another version.
Task<void> see_changes(FileSystem& fs, FileRef file);

}  // namespace nfsrdma::fuse
