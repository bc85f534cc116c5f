#include "cache/name/make_names.h"
#include "fuse/ops/operations.h"
#include "fuse/ops/reply.h"

namespace nfsrdma::fuse {

Task<void> handle::link(FileSystem& fs, Request request, InodeRef parent, LinkArguments arguments) {
  InodeRef inode = inode_or_refuse(fs, request, arguments.oldnodeid);
  if (!inode) co_return;
  const client::Credential caller = request.caller();
  // The file has under its new name what was written before.
  co_await fs.kernel().page_writer().write(inode, PageWriter::Opens::never);
  if (const auto open = inode->open()) co_await fs.files().writes().behind().flush(open);
  auto linked = co_await cache::link(fs.attributes(), caller, inode, parent, arguments.name);
  if (!linked) {
    reply_failure(fs, request, linked.error());
    co_return;
  }
  if (fs.kernel().pages_outdated(*inode)) co_await fs.kernel().drop_outdated_pages(inode);
  reply_entry(fs, request, *parent, arguments.name, *inode);
}

}  // namespace nfsrdma::fuse
