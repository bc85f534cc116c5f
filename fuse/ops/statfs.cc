#include "client/requests/statfs.h"

#include "fuse/convert/arguments.h"
#include "fuse/ops/handlers.h"
#include "fuse/ops/reply.h"

namespace nfsrdma::fuse {
namespace {

constexpr std::uint32_t kBlock = 4096;  // bytes; what df counts in

Task<void> run(FileSystem& fs, Request request, InodeRef inode) {
  const client::Credential caller = request.caller();
  auto status = co_await client::statfs(fs.mount(), caller, inode->handle());
  if (!status) {
    reply_failure(request, status.error());
  } else {
    request.reply_statfs(to_statvfs(*status, kBlock));
  }
}

}  // namespace

void handle::statfs(fuse_req_t req, fuse_ino_t id) {
  FileSystem& fs = FileSystem::of(req);
  Request request(req);
  InodeRef inode = inode_or_refuse(fs, request, id);
  if (inode) spawn(run(fs, std::move(request), std::move(inode)));
}

}  // namespace nfsrdma::fuse
