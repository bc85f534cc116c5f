#include "client/ops/open.h"

#include <fcntl.h>

#include "fuse/convert/arguments.h"
#include "fuse/ops/handlers.h"
#include "fuse/ops/open_file.h"
#include "fuse/ops/reply.h"

namespace nfsrdma::fs {
namespace {

Task<void> run(FileSystem& fs, Request request, InodeRef inode, fuse_file_info info) {
  const cache::Issue issue = fs.issue();
  const client::Caller caller = request.caller();
  auto opened =
      co_await client::open(fs.mount(), caller, inode->handle(), to_share_access(info.flags));
  if (!opened) {
    reply_failure(request, opened.error());
    co_return;
  }
  FileRef file = open_file(fs, inode, std::move(*opened), issue, info);
  if (!request.reply_open(info)) co_await forget_open(fs, std::move(file));
}

}  // namespace

void handle::open(fuse_req_t req, fuse_ino_t id, fuse_file_info* info) {
  FileSystem& fs = FileSystem::of(req);
  Request request(req);
  InodeRef inode = inode_or_refuse(fs, request, id);
  if (inode) spawn(run(fs, std::move(request), std::move(inode), *info));
}

}  // namespace nfsrdma::fs
