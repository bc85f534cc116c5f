#include "fuse/convert/arguments.h"

#include <fcntl.h>
#include <fuse_lowlevel.h>
#include <unistd.h>

#include <algorithm>
#include <climits>

#include "client/proto/ops_attr.h"
#include "client/proto/ops_open.h"

namespace nfsrdma::fuse {
namespace {

constexpr std::uint32_t kSettableModeBits = 07777;

client::SetTime to_set_time(const timespec& time, bool now) {
  client::SetTime result;
  result.server_time = now;
  result.time.seconds = time.tv_sec;
  result.time.nseconds = static_cast<std::uint32_t>(time.tv_nsec);
  return result;
}

}  // namespace

std::uint32_t to_share_access(int open_flags) {
  switch (open_flags & O_ACCMODE) {
    case O_WRONLY: return nfs4::OPEN4_SHARE_ACCESS_WRITE;
    case O_RDWR: return nfs4::OPEN4_SHARE_ACCESS_BOTH;
    default: return nfs4::OPEN4_SHARE_ACCESS_READ;
  }
}

client::SetAttributes to_set_attributes(const struct stat& values, int valid) {
  client::SetAttributes set;
  if (valid & FUSE_SET_ATTR_SIZE) set.size = static_cast<std::uint64_t>(values.st_size);
  if (valid & FUSE_SET_ATTR_MODE) set.mode = values.st_mode & kSettableModeBits;
  if (valid & FUSE_SET_ATTR_UID) set.uid = values.st_uid;
  if (valid & FUSE_SET_ATTR_GID) set.gid = values.st_gid;
  if (valid & (FUSE_SET_ATTR_ATIME | FUSE_SET_ATTR_ATIME_NOW)) {
    set.access_time = to_set_time(values.st_atim, (valid & FUSE_SET_ATTR_ATIME_NOW) != 0);
  }
  if (valid & (FUSE_SET_ATTR_MTIME | FUSE_SET_ATTR_MTIME_NOW)) {
    set.modify_time = to_set_time(values.st_mtim, (valid & FUSE_SET_ATTR_MTIME_NOW) != 0);
  }
  return set;
}

std::uint32_t to_access4(int mask, bool directory) {
  using namespace nfs4;
  std::uint32_t bits = 0;
  if (mask & R_OK) bits |= ACCESS4_READ;
  if (mask & W_OK) {
    bits |= ACCESS4_MODIFY | ACCESS4_EXTEND;
    if (directory) bits |= ACCESS4_DELETE;
  }
  if (mask & X_OK) bits |= directory ? ACCESS4_LOOKUP : ACCESS4_EXECUTE;
  return bits;
}

struct statvfs to_statvfs(const client::FileSystemStatus& status, std::uint32_t block) {
  struct statvfs result {};
  result.f_bsize = block;
  result.f_frsize = block;
  result.f_blocks = status.space_total / block;
  result.f_bfree = status.space_free / block;
  result.f_bavail = status.space_avail / block;
  result.f_files = status.files_total;
  result.f_ffree = status.files_free;
  result.f_favail = status.files_avail;
  // Some servers take longer ones (NFS-Ganesha: 1024), which the kernel refuses by itself.
  result.f_namemax = std::min<unsigned long>(status.max_name, NAME_MAX);
  return result;
}

}  // namespace nfsrdma::fuse
