#include <string>

#include "client/requests/create.h"
#include "fuse/ops/handlers.h"
#include "fuse/ops/reply.h"

namespace nfsrdma::fuse {
namespace {

Task<void> run(FileSystem& fs, Request request, InodeRef parent, std::string name,
               std::string_view target) {
  const cache::Issue issue = fs.issue();
  const client::Credential caller = request.caller();
  auto made = co_await client::make_symlink(fs.mount(), caller, parent->handle(), name, target);
  if (!made) {
    reply_failure(request, made.error());
    co_return;
  }
  fs.names_changed(*parent);
  const InodeRef inode = fs.adopt(made->handle, made->attributes, issue, ChangedBy::anyone);
  reply_found(fs, request, *parent, name, inode);
}

}  // namespace

void handle::symlink(fuse_req_t req, const char* target, fuse_ino_t parent, const char* name) {
  FileSystem& fs = FileSystem::of(req);
  Request request(req);
  InodeRef directory = inode_or_refuse(fs, request, parent);
  if (directory) spawn(run(fs, std::move(request), std::move(directory), name, target));
}

}  // namespace nfsrdma::fuse
