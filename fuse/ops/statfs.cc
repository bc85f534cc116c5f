#include "cache/file/queries.h"
#include "fuse/convert/arguments.h"
#include "fuse/ops/operations.h"
#include "fuse/ops/reply.h"

namespace nfsrdma::fuse {

Task<void> handle::statfs(FileSystem& fs, Request request, InodeRef inode, NoArguments) {
  const client::Credential caller = request.caller();
  auto status = co_await cache::statfs(fs.mount(), caller, inode);
  if (!status) {
    reply_failure(fs, request, status.error());
  } else {
    request.reply_statfs(to_statvfs(*status));
  }
}

}  // namespace nfsrdma::fuse
