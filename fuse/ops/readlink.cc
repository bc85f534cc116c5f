#include "client/requests/readlink.h"

#include "fuse/ops/handlers.h"
#include "fuse/ops/reply.h"

namespace nfsrdma::fuse {
namespace {

Task<void> run(FileSystem& fs, Request request, InodeRef inode) {
  const client::Credential caller = request.caller();
  auto target = co_await client::readlink(fs.mount(), caller, inode->handle());
  if (!target) {
    reply_failure(request, target.error());
  } else {
    request.reply_readlink(target->c_str());
  }
}

}  // namespace

void handle::readlink(fuse_req_t req, fuse_ino_t id) {
  FileSystem& fs = FileSystem::of(req);
  Request request(req);
  InodeRef inode = inode_or_refuse(fs, request, id);
  if (inode) spawn(run(fs, std::move(request), std::move(inode)));
}

}  // namespace nfsrdma::fuse
