#include "client/files/open.h"

#include <fcntl.h>

#include "fuse/convert/arguments.h"
#include "fuse/ops/open_file.h"
#include "fuse/ops/operations.h"
#include "fuse/ops/reply.h"

namespace nfsrdma::fuse {
namespace {

client::Delegating delegating(int flags) {
  return (flags & O_DIRECT) ? client::Delegating::unwanted : client::Delegating::wanted;
}

Task<void> run(FileSystem& fs, Request request, InodeRef inode, int flags) {
  const cache::Issue issue = fs.attributes().issue();
  const client::Credential caller = request.caller();
  auto opened = co_await client::open(fs.mount(), caller, inode->handle(), to_share_access(flags),
                                      delegating(flags));
  if (!opened) {
    reply_failure(fs, request, opened.error());
    co_return;
  }
  fs.attributes().learn(*inode, opened->attributes, issue, cache::ChangedBy::anyone);
  co_await fs.kernel().drop_pages_before_open(inode);
  // While another opener writes, the kernel ignores the size in the answer to this one.
  if (inode->open() && !inode->size_is_shown()) co_await fs.kernel().show_changes(inode);
  OpenAnswer answer;
  FileRef file =
      add_open_file(fs, inode, std::move(opened->open), opened->preserve_unlinked, flags, answer);
  if (!request.reply_open(answer)) co_await forget_open(fs, std::move(file));
}

void open_here(FileSystem& fs, Request& request, InodeRef inode, client::OpenedLocally opened,
               int flags) {
  OpenAnswer answer;
  FileRef file = add_open_file(fs, std::move(inode), std::move(opened.open),
                               opened.preserve_unlinked, flags, answer);
  if (!request.reply_open(answer)) spawn(forget_open(fs, std::move(file)));
}

}  // namespace

void handle::open(FileSystem& fs, Request request, InodeRef inode, fuse_open_in arguments) {
  const int flags = static_cast<int>(arguments.flags);
  // Under a delegation nothing can have changed, and the server need not be asked.
  if (inode->attributes().stands()) {
    auto opened =
        client::open_locally(fs.mount(), request.caller(), inode->handle(), to_share_access(flags));
    if (opened) return open_here(fs, request, std::move(inode), std::move(*opened), flags);
  }
  spawn(run(fs, std::move(request), std::move(inode), flags));
}

}  // namespace nfsrdma::fuse
