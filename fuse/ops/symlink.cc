#include <string>

#include "client/requests/create.h"
#include "fuse/ops/operations.h"
#include "fuse/ops/reply.h"

namespace nfsrdma::fuse {
Task<void> handle::symlink(FileSystem& fs, Request request, InodeRef parent,
                           SymlinkArguments arguments) {
  const cache::Issue issue = fs.attributes().issue();
  const client::Credential caller = request.caller();
  auto made = co_await client::make_symlink(fs.mount(), caller, parent->handle(), arguments.name,
                                            arguments.target);
  if (!made) {
    reply_failure(fs, request, made.error());
    co_return;
  }
  fs.attributes().names_changed(*parent, made->directory);
  const InodeRef inode = fs.adopt(made->handle, made->attributes, issue, cache::ChangedBy::anyone);
  reply_found(fs, request, *parent, arguments.name, inode);
}

}  // namespace nfsrdma::fuse
