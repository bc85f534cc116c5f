#include "client/requests/link.h"

#include <string>

#include "fuse/ops/operations.h"
#include "fuse/ops/reply.h"

namespace nfsrdma::fuse {
Task<void> handle::link(FileSystem& fs, Request request, InodeRef parent, LinkArguments arguments) {
  InodeRef inode = inode_or_refuse(fs, request, arguments.oldnodeid);
  if (!inode) co_return;
  const cache::Issue issue = fs.attributes().issue();
  const client::Credential caller = request.caller();
  auto linked =
      co_await client::link(fs.mount(), caller, inode->handle(), parent->handle(), arguments.name);
  if (!linked) {
    reply_failure(fs, request, linked.error());
    co_return;
  }
  fs.attributes().names_changed(*parent, linked->directory);
  fs.attributes().learn(*inode, linked->attributes, issue, cache::ChangedBy::anyone);
  if (fs.kernel().pages_outdated(*inode)) co_await fs.kernel().drop_outdated_pages(inode);
  reply_found(fs, request, *parent, arguments.name, inode);
}

}  // namespace nfsrdma::fuse
