// Answers to the kernel, and their layout on the channel.
#pragma once

#include <linux/fuse.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace nfsrdma::fuse {

class KernelChannel;

/// A name that was found or made. Timeouts are in seconds: for how long the kernel may believe it.
struct EntryAnswer {
  std::uint64_t node = 0;  ///< 0: there is no such name; or, in a listing, a name without a lookup
  struct stat attributes {};
  double attribute_timeout = 0;
  double entry_timeout = 0;
};

struct OpenAnswer {
  std::uint64_t fh = 0;
  bool keep_cache = false;  ///< the kernel may keep the pages it has
  bool direct_io = false;   ///< nothing goes through the page cache
  bool no_flush = false;    ///< close(2) writes no pages and sends no FLUSH (Linux 5.16)
  /// Opened with O_DIRECT: the same, and writes run side by side, where the kernel can still map
  /// the file.
  bool parallel_direct_io = false;
};

fuse_entry_out to_wire(const EntryAnswer& answer);
fuse_open_out to_wire(const OpenAnswer& answer, const KernelChannel& channel);
fuse_attr_out to_wire(const struct stat& attributes, double timeout_seconds);
fuse_statfs_out to_wire(const struct statvfs& status);

/// Puts one entry of a directory at the begin of `room`, if there is room for it; `next` is the
/// offset at which a listing goes on behind it. Returns the bytes that the entry takes, or would
/// take if there were room.
std::size_t add_entry(std::span<std::byte> room, std::string_view name,
                      const struct stat& attributes, std::uint64_t next);
/// The same for READDIRPLUS.
std::size_t add_entry_plus(std::span<std::byte> room, std::string_view name,
                           const EntryAnswer& entry, std::uint64_t next);

}  // namespace nfsrdma::fuse
