#include "client/files/open.h"

#include <fcntl.h>

#include "fuse/convert/arguments.h"
#include "fuse/ops/handlers.h"
#include "fuse/ops/open_file.h"
#include "fuse/ops/reply.h"

namespace nfsrdma::fuse {
namespace {

client::Delegating delegating(const fuse_file_info& info) {
  return (info.flags & O_DIRECT) ? client::Delegating::unwanted : client::Delegating::wanted;
}

Task<void> run(FileSystem& fs, Request request, InodeRef inode, fuse_file_info info) {
  const cache::Issue issue = fs.issue();
  const client::Credential caller = request.caller();
  auto opened = co_await client::open(fs.mount(), caller, inode->handle(),
                                      to_share_access(info.flags), delegating(info));
  if (!opened) {
    reply_failure(request, opened.error());
    co_return;
  }
  fs.learn(*inode, opened->attributes, issue, ChangedBy::anyone);
  co_await drop_pages_before_open(fs, inode);
  // Others who have it open may be writing, and the kernel pass over the answer to the new opener's
  // question for the size.
  if (inode->open() && !fs.kernel_has_size(*inode)) co_await fs.show_changes(inode);
  FileRef file = add_open_file(fs, inode, std::move(opened->open), opened->preserve_unlinked, info);
  if (!request.reply_open(info)) co_await forget_open(fs, std::move(file));
}

void open_here(FileSystem& fs, Request& request, InodeRef inode, client::OpenedLocally opened,
               fuse_file_info info) {
  FileRef file =
      add_open_file(fs, std::move(inode), std::move(opened.open), opened.preserve_unlinked, info);
  if (!request.reply_open(info)) spawn(forget_open(fs, std::move(file)));
}

}  // namespace

void handle::open(fuse_req_t req, fuse_ino_t id, fuse_file_info* info) {
  FileSystem& fs = FileSystem::of(req);
  Request request(req);
  InodeRef inode = inode_or_refuse(fs, request, id);
  if (!inode) return;
  // Under a delegation nothing can have changed, and the server need not be asked.
  if (inode->attributes().stands()) {
    auto opened = client::open_locally(fs.mount(), request.caller(), inode->handle(),
                                       to_share_access(info->flags));
    if (opened) return open_here(fs, request, std::move(inode), std::move(*opened), *info);
  }
  spawn(run(fs, std::move(request), std::move(inode), *info));
}

}  // namespace nfsrdma::fuse
