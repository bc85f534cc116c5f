// READ, WRITE and SETATTR of the size under a lock (RFC 8881 section 8.2.5): which stateid they
// name, and that they fail when the lock has been lost.
#pragma once

#include <span>

#include "client/state/open_file.h"

namespace nfsrdma::client {

/// The reader or writer, as far as known, and its range.
struct IoBy {
  /// The process as the kernel names it for fcntl locks; 0: it has not said.
  std::uint64_t owner = 0;
  std::int32_t pid = 0;  ///< 0: the kernel itself, which writes back mapped pages
  /// Lock owners that have asked for fcntl locks through the same open file: processes, or the open
  /// file description itself.
  std::span<const std::uint64_t> lockers{};
  std::uint64_t description = 0;  ///< the owner of its flock locks; 0: none
  ByteRange range;
};

/// The lock in whose name this is read or written; null: none, the open's stateid is the right one.
///
/// Where the kernel names the process (direct I/O), its lock. Where it
/// does not (cached reads, buffered writes), a lock of a process with the same pid, or one that was
/// taken through the same open file; and for mapped pages any lock on the range. A lock that is
/// lost goes first, then one that covers the range.
FileLocks::LockRef lock_for_io(const FileLocks& locks, const IoBy& by);

/// For requests in the name of the open file and, unless `lock` is null, of that lock.
StateRef io_state(const OpenFileRef& file, const FileLocks::LockRef& lock);

}  // namespace nfsrdma::client
