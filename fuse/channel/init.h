// The agreement with the kernel in FUSE_INIT.
#pragma once

#include <linux/fuse.h>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace nfsrdma::fuse {

/// Most bytes of one READ or WRITE request (256 pages of 4 KiB).
inline constexpr std::size_t kMaxTransfer = std::size_t{1} << 20;
/// Room in front of a WRITE's payload.
inline constexpr std::size_t kHeaderRoom = 4096;
/// Size of a slot of the data pool: room for one request.
inline constexpr std::size_t kSlotSize = kMaxTransfer + kHeaderRoom;
/// Background requests (readahead, direct and mapped writes) the kernel may have outstanding. Its
/// own default of 12 leaves a network idle.
inline constexpr unsigned kMaxBackground = 64;

/// FUSE_DIRECT_IO_ALLOW_MMAP, in flags2 of FUSE_INIT. Headers before Linux 6.6 do not have it.
inline constexpr std::uint32_t kDirectIoAllowMmap = 1U << (36 - 32);

/// The server's limits for one request, and options of the mount.
struct TransferLimits {
  std::size_t max_read = kMaxTransfer;   ///< bytes
  std::size_t max_write = kMaxTransfer;  ///< bytes
  bool readdirplus = true;               ///< offer READDIRPLUS to the kernel
  /// Cached pages go only when a notification says so; else the kernel drops them on its own when
  /// size or mtime differ from what it has seen, our own writes included.
  bool explicit_invalidation = false;
  bool posix_locks = true;  ///< fcntl locks come here; else the kernel keeps them on this machine
  bool flock_locks = true;  ///< the same of flock
  /// Requests come over an io_uring where the kernel offers that.
  bool io_uring = false;
};

/// The answer to FUSE_INIT; nothing for a kernel older than Linux 3.15 (FUSE 7.23), whose
/// structures are shorter. ATOMIC_O_TRUNC is off: truncation comes as a SETATTR of its own after
/// the OPEN. The kernel's write-back cache is off: with it the kernel would answer for size and
/// times by itself, and not see another client's change of them.
/// The server clears set-id bits when a user other than the owner writes (HANDLE_KILLPRIV): the
/// kernel would use a SETATTR of the writer for that, which the server refuses.
std::optional<fuse_init_out> negotiate(const fuse_init_in& kernel, const TransferLimits& limits);

}  // namespace nfsrdma::fuse
