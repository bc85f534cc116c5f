#include "fuse/convert/arguments.h"

#include <algorithm>
#include <climits>

namespace nfsrdma::fuse {
namespace {

constexpr std::uint32_t kSettableModeBits = 07777;
constexpr unsigned long kBlock = 4096;  // bytes; what df counts in

client::SetTime to_set_time(std::uint64_t seconds, std::uint32_t nanoseconds, bool now) {
  client::SetTime result;
  result.server_time = now;
  result.time.seconds = static_cast<std::int64_t>(seconds);
  result.time.nseconds = nanoseconds;
  return result;
}

}  // namespace

client::SetAttributes to_set_attributes(const fuse_setattr_in& wanted) {
  const std::uint32_t valid = wanted.valid;
  client::SetAttributes set;
  if (valid & FATTR_SIZE) set.size = wanted.size;
  if (valid & FATTR_MODE) set.mode = wanted.mode & kSettableModeBits;
  if (valid & FATTR_UID) set.uid = wanted.uid;
  if (valid & FATTR_GID) set.gid = wanted.gid;
  if (valid & (FATTR_ATIME | FATTR_ATIME_NOW)) {
    set.access_time = to_set_time(wanted.atime, wanted.atimensec, (valid & FATTR_ATIME_NOW) != 0);
  }
  if (valid & (FATTR_MTIME | FATTR_MTIME_NOW)) {
    set.modify_time = to_set_time(wanted.mtime, wanted.mtimensec, (valid & FATTR_MTIME_NOW) != 0);
  }
  return set;
}

struct statvfs to_statvfs(const client::Attributes& status) {
  struct statvfs result {};
  result.f_bsize = kBlock;
  result.f_frsize = kBlock;
  result.f_blocks = status.space_total / kBlock;
  result.f_bfree = status.space_free / kBlock;
  result.f_bavail = status.space_avail / kBlock;
  result.f_files = status.files_total;
  result.f_ffree = status.files_free;
  result.f_favail = status.files_avail;
  // Some servers take longer ones (NFS-Ganesha: 1024), which the kernel refuses by itself.
  const bool known = status.has(nfs4::FATTR4_MAXNAME);
  result.f_namemax = known ? std::min<unsigned long>(status.maxname, NAME_MAX) : NAME_MAX;
  return result;
}

}  // namespace nfsrdma::fuse
