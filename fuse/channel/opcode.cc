#include "fuse/channel/opcode.h"

#include <linux/fuse.h>

namespace nfsrdma::fuse {
namespace {

struct NamedOpcode {
  std::uint32_t opcode;
  std::string_view name;
};

constexpr NamedOpcode kNames[] = {
    {FUSE_LOOKUP, "lookup"},
    {FUSE_FORGET, "forget"},
    {FUSE_GETATTR, "getattr"},
    {FUSE_SETATTR, "setattr"},
    {FUSE_READLINK, "readlink"},
    {FUSE_SYMLINK, "symlink"},
    {FUSE_MKNOD, "mknod"},
    {FUSE_MKDIR, "mkdir"},
    {FUSE_UNLINK, "unlink"},
    {FUSE_RMDIR, "rmdir"},
    {FUSE_RENAME, "rename"},
    {FUSE_LINK, "link"},
    {FUSE_OPEN, "open"},
    {FUSE_READ, "read"},
    {FUSE_WRITE, "write"},
    {FUSE_STATFS, "statfs"},
    {FUSE_RELEASE, "release"},
    {FUSE_FSYNC, "fsync"},
    {FUSE_SETXATTR, "setxattr"},
    {FUSE_GETXATTR, "getxattr"},
    {FUSE_LISTXATTR, "listxattr"},
    {FUSE_REMOVEXATTR, "removexattr"},
    {FUSE_FLUSH, "flush"},
    {FUSE_INIT, "init"},
    {FUSE_OPENDIR, "opendir"},
    {FUSE_READDIR, "readdir"},
    {FUSE_RELEASEDIR, "releasedir"},
    {FUSE_FSYNCDIR, "fsyncdir"},
    {FUSE_GETLK, "getlk"},
    {FUSE_SETLK, "setlk"},
    {FUSE_SETLKW, "setlkw"},
    {FUSE_ACCESS, "access"},
    {FUSE_CREATE, "create"},
    {FUSE_INTERRUPT, "interrupt"},
    {FUSE_BMAP, "bmap"},
    {FUSE_DESTROY, "destroy"},
    {FUSE_IOCTL, "ioctl"},
    {FUSE_POLL, "poll"},
    {FUSE_BATCH_FORGET, "batch_forget"},
    {FUSE_FALLOCATE, "fallocate"},
    {FUSE_READDIRPLUS, "readdirplus"},
    {FUSE_RENAME2, "rename2"},
    {FUSE_LSEEK, "lseek"},
    {FUSE_COPY_FILE_RANGE, "copy_file_range"},
};

}  // namespace

std::string_view opcode_name(std::uint32_t opcode) {
  for (const auto& named : kNames) {
    if (named.opcode == opcode) return named.name;
  }
  return {};
}

}  // namespace nfsrdma::fuse
