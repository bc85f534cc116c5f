#include <cerrno>

#include "cache/file/queries.h"
#include "fuse/ops/operations.h"
#include "fuse/ops/reply.h"

namespace nfsrdma::fuse {

Task<void> handle::access(FileSystem& fs, Request request, InodeRef inode,
                          fuse_access_in arguments) {
  const client::Credential caller = request.caller();
  auto granted =
      co_await cache::access(fs.mount(), caller, inode, static_cast<int>(arguments.mask));
  if (!granted) {
    reply_failure(fs, request, granted.error());
  } else {
    request.reply_error(*granted ? 0 : EACCES);
  }
}

}  // namespace nfsrdma::fuse
