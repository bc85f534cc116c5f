#include "fuse/ops/file_system.h"
#include "fuse/ops/operations.h"

namespace nfsrdma::fuse {

void handle::forget(FileSystem& fs, Request request, ForgetArguments arguments) {
  for (std::size_t i = 0; i < arguments.count(); ++i) {
    const fuse_forget_one one = arguments[i];
    if (InodeRef inode = fs.inodes().find(one.nodeid)) fs.inodes().forget(*inode, one.nlookup);
  }
  request.reply_none();
}

}  // namespace nfsrdma::fuse
