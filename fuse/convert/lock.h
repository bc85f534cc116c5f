// Locks as fcntl(2) and flock(2) have them, and as the client has them.
#pragma once

#include <fcntl.h>

#include "client/files/lock.h"

namespace nfsrdma::fuse {

/// libfuse gives ranges from the start of the file; a length of 0 means "to any end".
inline client::ByteRange to_range(const struct ::flock& lock) {
  client::ByteRange range;
  range.first = static_cast<std::uint64_t>(lock.l_start);
  if (lock.l_len > 0) range.last = range.first + static_cast<std::uint64_t>(lock.l_len) - 1;
  return range;
}

/// What F_GETLK answers.
inline struct ::flock to_flock(const client::LockConflict& conflict) {
  struct ::flock lock {};
  lock.l_type = conflict.exclusive ? F_WRLCK : F_RDLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(conflict.range.first);
  const bool to_end = conflict.range.last == client::ByteRange::kEnd;
  lock.l_len = to_end ? 0 : static_cast<off_t>(conflict.range.wire_length());
  lock.l_pid = conflict.pid;
  return lock;
}

}  // namespace nfsrdma::fuse
