#include "fuse/ops/handlers.h"
#include "fuse/ops/reply.h"

namespace nfsrdma::fuse {

/// NFS does not open directories: the first READDIR tells whether the caller may read it.
void handle::opendir(fuse_req_t req, fuse_ino_t id, fuse_file_info* info) {
  FileSystem& fs = FileSystem::of(req);
  Request request(req);
  InodeRef inode = inode_or_refuse(fs, request, id);
  if (!inode) return;
  fuse_file_info opened = *info;
  opened.fh = fs.add_directory(std::move(inode));
  if (!request.reply_open(opened)) fs.remove_directory(opened.fh);
}

void handle::releasedir(fuse_req_t req, fuse_ino_t, fuse_file_info* info) {
  FileSystem& fs = FileSystem::of(req);
  Request request(req);
  fs.remove_directory(info->fh);
  request.reply_ok();
}

/// The server makes changes of names durable before it answers them (RFC 8881 section 18.25.4 and
/// its like).
void handle::fsyncdir(fuse_req_t req, fuse_ino_t, int, fuse_file_info*) { Request(req).reply_ok(); }

}  // namespace nfsrdma::fuse
