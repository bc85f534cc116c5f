// Locks as FUSE has them, and as the client has them.
#pragma once

#include <fcntl.h>
#include <linux/fuse.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "cache/lock/file_locks.h"

namespace nfsrdma::fuse {

/// The kernel's last byte of a lock "to any end" (OFFSET_MAX).
inline constexpr std::uint64_t kLastOffset = std::numeric_limits<std::int64_t>::max();

inline client::ByteRange to_range(const fuse_file_lock& lock) {
  client::ByteRange range;
  range.first = lock.start;
  if (lock.end != kLastOffset && lock.end >= lock.start) range.last = lock.end;
  return range;
}

/// The range and type of GETLK, SETLK or SETLKW, without the owner. flock(2) knows no ranges.
inline client::WantedLock to_wanted_lock(const fuse_lk_in& asked) {
  const bool flock = (asked.lk_flags & FUSE_LK_FLOCK) != 0;
  client::WantedLock wanted;
  wanted.owner = {flock ? client::LockKind::flock : client::LockKind::posix, asked.owner};
  if (!flock) wanted.range = to_range(asked.lk);
  wanted.exclusive = asked.lk.type == F_WRLCK;
  return wanted;
}

/// The answer of F_GETLK.
inline fuse_file_lock to_file_lock(const client::LockConflict& conflict) {
  fuse_file_lock lock{};
  lock.start = conflict.range.first;
  lock.end = std::min(conflict.range.last, kLastOffset);
  lock.type = conflict.exclusive ? F_WRLCK : F_RDLCK;
  lock.pid = static_cast<std::uint32_t>(conflict.pid);
  return lock;
}

}  // namespace nfsrdma::fuse
