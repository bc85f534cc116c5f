#include "fuse/channel/answers.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "fuse/channel/kernel_channel.h"

namespace nfsrdma::fuse {
namespace {

struct WireTime {
  std::uint64_t seconds = 0;
  std::uint32_t nanoseconds = 0;
};

WireTime to_wire(double seconds) {
  constexpr double kPerSecond = 1e9;
  constexpr double kLongest = std::numeric_limits<std::uint32_t>::max();  // 136 years
  const double bounded = std::clamp(seconds, 0.0, kLongest);
  const auto whole = static_cast<std::uint64_t>(bounded);
  return {whole, static_cast<std::uint32_t>((bounded - static_cast<double>(whole)) * kPerSecond)};
}

fuse_attr to_wire(const struct stat& from) {
  fuse_attr to{};
  to.ino = from.st_ino;
  to.size = static_cast<std::uint64_t>(from.st_size);
  to.blocks = static_cast<std::uint64_t>(from.st_blocks);
  to.atime = static_cast<std::uint64_t>(from.st_atim.tv_sec);
  to.mtime = static_cast<std::uint64_t>(from.st_mtim.tv_sec);
  to.ctime = static_cast<std::uint64_t>(from.st_ctim.tv_sec);
  to.atimensec = static_cast<std::uint32_t>(from.st_atim.tv_nsec);
  to.mtimensec = static_cast<std::uint32_t>(from.st_mtim.tv_nsec);
  to.ctimensec = static_cast<std::uint32_t>(from.st_ctim.tv_nsec);
  to.mode = from.st_mode;
  to.nlink = static_cast<std::uint32_t>(from.st_nlink);
  to.uid = from.st_uid;
  to.gid = from.st_gid;
  to.rdev = static_cast<std::uint32_t>(from.st_rdev);
  to.blksize = static_cast<std::uint32_t>(from.st_blksize);
  return to;
}

/// The name and its attributes; bytes up to the next entry are zero.
void put_dirent(std::byte* place, std::string_view name, const struct stat& attributes,
                std::uint64_t next) {
  constexpr unsigned kTypeShift = 12;  // S_IFMT to DT_*
  fuse_dirent entry{};
  entry.ino = attributes.st_ino;
  entry.off = next;
  entry.namelen = static_cast<std::uint32_t>(name.size());
  entry.type = (attributes.st_mode & S_IFMT) >> kTypeShift;
  std::memcpy(place, &entry, FUSE_NAME_OFFSET);
  std::memcpy(place + FUSE_NAME_OFFSET, name.data(), name.size());
  const std::size_t end = FUSE_NAME_OFFSET + name.size();
  std::memset(place + end, 0, FUSE_DIRENT_ALIGN(end) - end);
}

}  // namespace

fuse_entry_out to_wire(const EntryAnswer& answer) {
  const WireTime entry = to_wire(answer.entry_timeout);
  const WireTime attributes = to_wire(answer.attribute_timeout);
  fuse_entry_out out{};
  out.nodeid = answer.node;
  out.entry_valid = entry.seconds;
  out.entry_valid_nsec = entry.nanoseconds;
  out.attr_valid = attributes.seconds;
  out.attr_valid_nsec = attributes.nanoseconds;
  out.attr = to_wire(answer.attributes);
  return out;
}

fuse_open_out to_wire(const OpenAnswer& answer, const KernelChannel& channel) {
  fuse_open_out out{};
  out.fh = answer.fh;
  if (answer.keep_cache) out.open_flags |= FOPEN_KEEP_CACHE;
  if (answer.direct_io) out.open_flags |= FOPEN_DIRECT_IO;
  if (answer.no_flush) out.open_flags |= FOPEN_NOFLUSH;
  // Without both flags the kernel holds the inode's lock for each direct write.
  if (answer.parallel_direct_io && channel.maps_direct_io) {
    out.open_flags |= FOPEN_DIRECT_IO | FOPEN_PARALLEL_DIRECT_WRITES;
  }
  return out;
}

fuse_attr_out to_wire(const struct stat& attributes, double timeout_seconds) {
  const WireTime timeout = to_wire(timeout_seconds);
  fuse_attr_out out{};
  out.attr_valid = timeout.seconds;
  out.attr_valid_nsec = timeout.nanoseconds;
  out.attr = to_wire(attributes);
  return out;
}

fuse_statfs_out to_wire(const struct statvfs& status) {
  fuse_statfs_out out{};
  out.st.blocks = status.f_blocks;
  out.st.bfree = status.f_bfree;
  out.st.bavail = status.f_bavail;
  out.st.files = status.f_files;
  out.st.ffree = status.f_ffree;
  out.st.bsize = static_cast<std::uint32_t>(status.f_bsize);
  out.st.namelen = static_cast<std::uint32_t>(status.f_namemax);
  out.st.frsize = static_cast<std::uint32_t>(status.f_frsize);
  return out;
}

std::size_t add_entry(std::span<std::byte> room, std::string_view name,
                      const struct stat& attributes, std::uint64_t next) {
  const std::size_t needed = FUSE_DIRENT_ALIGN(FUSE_NAME_OFFSET + name.size());
  if (needed <= room.size()) put_dirent(room.data(), name, attributes, next);
  return needed;
}

std::size_t add_entry_plus(std::span<std::byte> room, std::string_view name,
                           const EntryAnswer& entry, std::uint64_t next) {
  const fuse_entry_out out = to_wire(entry);
  const std::size_t needed = sizeof out + FUSE_DIRENT_ALIGN(FUSE_NAME_OFFSET + name.size());
  if (needed > room.size()) return needed;
  std::memcpy(room.data(), &out, sizeof out);
  put_dirent(room.data() + sizeof out, name, entry.attributes, next);
  return needed;
}

}  // namespace nfsrdma::fuse
