#include "client/ops/getattr.h"

#include "fuse/ops/handlers.h"
#include "fuse/ops/reply.h"

namespace nfsrdma::fs {
namespace {

/// The server's view, after what was written here.
Task<void> run(FileSystem& fs, Request request, InodeRef inode) {
  const client::Caller caller = request.caller();
  const auto open = inode->open();
  if (open && open->dirty()) {
    co_await fs.gatherer().flush(open);
    if (fs.fresh(*inode)) {
      reply_attributes(fs, request, *inode);
      co_return;
    }
  }
  const cache::Issue issue = fs.issue();
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
  const auto open = inode->open();
  const bool dirty = open && open->dirty();
  if (!dirty && fs.fresh(*inode)) {
    fs.count_attribute_hit();
    reply_attributes(fs, request, *inode);
    return;
  }
  spawn(run(fs, std::move(request), std::move(inode)));
}

}  // namespace nfsrdma::fs
