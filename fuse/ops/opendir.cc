#include "fuse/ops/operations.h"
#include "fuse/ops/reply.h"

namespace nfsrdma::fuse {

/// NFS does not open directories: the first READDIR tells whether the caller may read it.
void handle::opendir(FileSystem& fs, Request request, InodeRef inode, fuse_open_in) {
  const OpenAnswer opened{.fh = fs.add_directory(std::move(inode))};
  if (!request.reply_open(opened)) fs.remove_directory(opened.fh);
}

void handle::releasedir(FileSystem& fs, Request request, fuse_release_in arguments) {
  fs.remove_directory(arguments.fh);
  request.reply_ok();
}

/// The server makes changes of names durable before it answers them (RFC 8881 section 18.25.4 and
/// its like).
void handle::fsyncdir(FileSystem&, Request request, fuse_fsync_in) { request.reply_ok(); }

}  // namespace nfsrdma::fuse
