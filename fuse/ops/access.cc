#include "client/requests/access.h"

#include <cerrno>

#include "fuse/convert/arguments.h"
#include "fuse/ops/operations.h"
#include "fuse/ops/reply.h"

namespace nfsrdma::fuse {
Task<void> handle::access(FileSystem& fs, Request request, InodeRef inode,
                          fuse_access_in arguments) {
  const client::Credential caller = request.caller();
  const std::uint32_t asked = to_access4(static_cast<int>(arguments.mask), inode->is_directory());
  auto granted = co_await client::access(fs.mount(), caller, inode->handle(), asked);
  if (!granted) {
    reply_failure(fs, request, granted.error());
  } else {
    request.reply_error((*granted & asked) == asked ? 0 : EACCES);
  }
}

}  // namespace nfsrdma::fuse
