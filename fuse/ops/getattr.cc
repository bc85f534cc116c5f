#include "client/ops/getattr.h"

#include "fuse/ops/handlers.h"
#include "fuse/ops/reply.h"

namespace nfsrdma::fs {
namespace {

Task<void> run(FileSystem& fs, Request request, InodeRef inode) {
  const cache::Issue issue = fs.issue();
  const client::Caller caller = request.caller();
  auto attributes = co_await client::getattr(fs.mount(), caller, inode->handle());
  if (!attributes) {
    reply_failure(request, attributes.error());
    co_return;
  }
  fs.learn(*inode, *attributes, issue, ChangedBy::anyone);
  reply_attributes(fs, request, *inode);
}

}  // namespace

void handle::getattr(fuse_req_t req, fuse_ino_t id, fuse_file_info*) {
  FileSystem& fs = FileSystem::of(req);
  Request request(req);
  InodeRef inode = inode_or_refuse(fs, request, id);
  if (!inode) return;
  if (fs.fresh(*inode)) {
    fs.count_attribute_hit();
    reply_attributes(fs, request, *inode);
    return;
  }
  spawn(run(fs, std::move(request), std::move(inode)));
}

}  // namespace nfsrdma::fs
