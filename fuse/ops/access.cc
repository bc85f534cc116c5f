#include "client/requests/access.h"

#include <cerrno>

#include "fuse/convert/arguments.h"
#include "fuse/ops/handlers.h"
#include "fuse/ops/reply.h"

namespace nfsrdma::fuse {
namespace {

Task<void> run(FileSystem& fs, Request request, InodeRef inode, int mask) {
  const client::Credential caller = request.caller();
  const std::uint32_t asked = to_access4(mask, inode->is_directory());
  auto granted = co_await client::access(fs.mount(), caller, inode->handle(), asked);
  if (!granted) {
    reply_failure(request, granted.error());
  } else {
    request.reply_error((*granted & asked) == asked ? 0 : EACCES);
  }
}

}  // namespace

void handle::access(fuse_req_t req, fuse_ino_t id, int mask) {
  FileSystem& fs = FileSystem::of(req);
  Request request(req);
  InodeRef inode = inode_or_refuse(fs, request, id);
  if (inode) spawn(run(fs, std::move(request), std::move(inode), mask));
}

}  // namespace nfsrdma::fuse
