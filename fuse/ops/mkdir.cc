#include "client/requests/create.h"

#include <string>

#include "fuse/ops/handlers.h"
#include "fuse/ops/reply.h"

namespace nfsrdma::fuse {
namespace {

Task<void> run(FileSystem& fs, Request request, InodeRef parent, std::string name, mode_t mode) {
  const cache::Issue issue = fs.issue();
  const client::Credential caller = request.caller();
  auto made = co_await client::make_directory(fs.mount(), caller, parent->handle(), name, mode);
  if (!made) {
    reply_failure(request, made.error());
    co_return;
  }
  fs.names_changed(*parent);
  const InodeRef inode = fs.adopt(made->handle, made->attributes, issue, ChangedBy::anyone);
  reply_found(fs, request, *parent, name, inode);
}

}  // namespace

void handle::mkdir(fuse_req_t req, fuse_ino_t parent, const char* name, mode_t mode) {
  constexpr mode_t kPermissionBits = 07777;
  FileSystem& fs = FileSystem::of(req);
  Request request(req);
  InodeRef directory = inode_or_refuse(fs, request, parent);
  if (!directory) return;
  spawn(run(fs, std::move(request), std::move(directory), name, mode & kPermissionBits));
}

}  // namespace nfsrdma::fuse
