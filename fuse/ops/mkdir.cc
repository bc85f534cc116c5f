#include "client/requests/create.h"

#include <string>

#include "fuse/ops/operations.h"
#include "fuse/ops/reply.h"

namespace nfsrdma::fuse {
Task<void> handle::mkdir(FileSystem& fs, Request request, InodeRef parent,
                         MkdirArguments arguments) {
  constexpr mode_t kPermissionBits = 07777;
  const std::string& name = arguments.name;
  const cache::Issue issue = fs.attributes().issue();
  const client::Credential caller = request.caller();
  auto made = co_await client::make_directory(fs.mount(), caller, parent->handle(), name,
                                              arguments.mode & kPermissionBits);
  if (!made) {
    reply_failure(fs, request, made.error());
    co_return;
  }
  fs.attributes().names_changed(*parent, made->directory);
  const InodeRef inode = fs.adopt(made->handle, made->attributes, issue, cache::ChangedBy::anyone);
  reply_found(fs, request, *parent, name, inode);
}

}  // namespace nfsrdma::fuse
