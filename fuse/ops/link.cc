#include "client/requests/link.h"

#include <string>

#include "fuse/ops/handlers.h"
#include "fuse/ops/reply.h"

namespace nfsrdma::fuse {
namespace {

Task<void> run(FileSystem& fs, Request request, InodeRef inode, InodeRef parent, std::string name) {
  const cache::Issue issue = fs.issue();
  const client::Credential caller = request.caller();
  auto linked = co_await client::link(fs.mount(), caller, inode->handle(), parent->handle(), name);
  if (!linked) {
    reply_failure(request, linked.error());
    co_return;
  }
  fs.names_changed(*parent);
  fs.learn(*inode, linked->attributes, issue, ChangedBy::anyone);
  if (fs.pages_outdated(*inode)) co_await fs.drop_outdated_pages(inode);
  reply_found(fs, request, *parent, name, inode);
}

}  // namespace

void handle::link(fuse_req_t req, fuse_ino_t id, fuse_ino_t new_parent, const char* new_name) {
  FileSystem& fs = FileSystem::of(req);
  Request request(req);
  InodeRef inode = inode_or_refuse(fs, request, id);
  if (!inode) return;
  InodeRef directory = inode_or_refuse(fs, request, new_parent);
  if (!directory) return;
  spawn(run(fs, std::move(request), std::move(inode), std::move(directory), new_name));
}

}  // namespace nfsrdma::fuse
