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
  reply_made(fs, request, *parent, arguments.name, made, issue);
}

}  // namespace nfsrdma::fuse
