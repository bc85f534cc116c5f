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
  reply_made(fs, request, *parent, name, made, issue);
}

}  // namespace nfsrdma::fuse
