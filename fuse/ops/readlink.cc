#include "cache/file/queries.h"
#include "fuse/ops/operations.h"
#include "fuse/ops/reply.h"

namespace nfsrdma::fuse {

Task<void> handle::readlink(FileSystem& fs, Request request, InodeRef inode, NoArguments) {
  const client::Credential caller = request.caller();
  auto target = co_await cache::readlink(fs.mount(), caller, inode);
  if (!target) {
    reply_failure(fs, request, target.error());
  } else {
    inode->view().asks_again();
    request.reply_readlink(*target);
  }
}

}  // namespace nfsrdma::fuse
