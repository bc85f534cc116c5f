#include "fuse/convert/attributes.h"

#include <sys/sysmacros.h>

namespace nfsrdma::fuse {
namespace {

constexpr std::uint64_t kBlockUnit = 512;  // st_blocks counts these, always
constexpr blksize_t kPreferredBlock = 1 << 20;

timespec to_timespec(const cache::FileTime& time) {
  timespec spec{};
  spec.tv_sec = static_cast<time_t>(time.seconds);
  spec.tv_nsec = static_cast<long>(time.nanoseconds);
  return spec;
}

}  // namespace

std::uint64_t inode_number(std::uint64_t fileid, const cache::FileSystemId& of,
                           const cache::FileSystemId& root) {
  constexpr std::uint64_t kSpread = 0x9E3779B97F4A7C15;  // 2^64 divided by the golden ratio
  if (of != root) fileid ^= (of.major * kSpread + of.minor) * kSpread;
  return fileid != 0 ? fileid : kUnknownInode;
}

struct stat to_stat(const cache::FileAttributes& attributes, const cache::FileSystemId& root) {
  struct stat result {};
  result.st_ino = inode_number(attributes.fileid, attributes.fsid, root);
  result.st_mode = attributes.mode;
  result.st_nlink = attributes.links;
  result.st_uid = attributes.uid;
  result.st_gid = attributes.gid;
  result.st_rdev = makedev(attributes.device_major, attributes.device_minor);
  result.st_size = static_cast<off_t>(attributes.size);
  result.st_blksize = kPreferredBlock;
  result.st_blocks = static_cast<blkcnt_t>((attributes.space_used + kBlockUnit - 1) / kBlockUnit);
  result.st_atim = to_timespec(attributes.access_time);
  result.st_mtim = to_timespec(attributes.modify_time);
  result.st_ctim = to_timespec(attributes.change_time);
  return result;
}

}  // namespace nfsrdma::fuse
