// In the name of which lock a file is read or written.
#pragma once

#include "cache/file/file.h"
#include "client/files/locked_io.h"

namespace nfsrdma::cache {

/// `owner` asks for an fcntl lock through `file`; `owner` closes a descriptor of some open file.
void note_locker(File& file, std::uint64_t owner);
void forget_locker(OpenInode& open, std::uint64_t owner);

/// The reader or writer: its lock owner where the kernel knows one (direct I/O), else 0; the pid of
/// the calling thread, 0 for pages that the kernel writes back itself.
struct IoCaller {
  std::uint64_t owner = 0;
  std::int32_t pid = 0;
};
/// The lock under which the caller reads or writes the range; null: none
/// (client/files/locked_io.h).
client::FileLocks::LockRef lock_for_io(const File& file, IoCaller caller, client::ByteRange range);
/// The state that requests of that I/O name: the lock's, or the open's.
client::StateRef io_state(const File& file, const client::FileLocks::LockRef& lock);
client::ByteRange io_range(std::uint64_t offset, std::size_t length);
/// Whether the server has taken the lock away. If so, its owner is being told by an EIO.
bool lost(const client::FileLocks::LockRef& lock);

}  // namespace nfsrdma::cache
