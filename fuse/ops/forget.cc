#include "fuse/ops/file_system.h"
#include "fuse/ops/handlers.h"

namespace nfsrdma::fuse {
namespace {

void forget_one(FileSystem& fs, fuse_ino_t id, std::uint64_t count) {
  if (InodeRef inode = fs.inodes().find(id)) fs.inodes().forget(*inode, count);
}

}  // namespace

void handle::forget(fuse_req_t req, fuse_ino_t inode, std::uint64_t count) {
  Request request(req);
  forget_one(FileSystem::of(req), inode, count);
  request.reply_none();
}

void handle::forget_multi(fuse_req_t req, std::size_t count, fuse_forget_data* forgets) {
  Request request(req);
  for (std::size_t i = 0; i < count; ++i) {
    forget_one(FileSystem::of(req), forgets[i].ino, forgets[i].nlookup);
  }
  request.reply_none();
}

}  // namespace nfsrdma::fuse
