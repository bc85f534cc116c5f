#include <sys/sysmacros.h>

#include <cerrno>
#include <string>

#include "client/files/close.h"
#include "client/files/open.h"
#include "client/proto/ops_open.h"
#include "client/requests/create.h"
#include "fuse/ops/operations.h"
#include "fuse/ops/reply.h"

namespace nfsrdma::fuse {
namespace {

constexpr mode_t kPermissionBits = 07777;

/// NF4REG for a type that CREATE does not make.
nfs4::nfs_ftype4 node_type(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFIFO: return nfs4::NF4FIFO;
    case S_IFSOCK: return nfs4::NF4SOCK;
    case S_IFCHR: return nfs4::NF4CHR;
    case S_IFBLK: return nfs4::NF4BLK;
    default: return nfs4::NF4REG;
  }
}

Task<void> make_special(FileSystem& fs, Request request, InodeRef parent, MknodArguments node) {
  const cache::Issue issue = fs.attributes().issue();
  const client::Credential caller = request.caller();
  const nfs4::specdata4 device{major(node.rdev), minor(node.rdev)};
  auto made = co_await client::make_node(fs.mount(), caller, parent->handle(), node.name,
                                         node_type(node.mode), node.mode & kPermissionBits, device);
  reply_made(fs, request, *parent, node.name, made, issue);
}

/// Only OPEN makes regular files.
Task<void> make_regular(FileSystem& fs, Request request, InodeRef parent, MknodArguments node) {
  const cache::Issue issue = fs.attributes().issue();
  const client::Credential caller = request.caller();
  client::SetAttributes initial;
  initial.mode = node.mode & kPermissionBits;
  auto opened = co_await client::create(fs.mount(), caller, parent->handle(), node.name,
                                        client::CreateMode::exclusive, initial,
                                        nfs4::OPEN4_SHARE_ACCESS_READ);
  if (!opened) {
    reply_failure(fs, request, opened.error());
    co_return;
  }
  fs.attributes().names_changed(*parent, opened->directory);
  const InodeRef inode =
      fs.adopt(opened->handle, opened->attributes, issue, cache::ChangedBy::anyone);
  reply_found(fs, request, *parent, node.name, inode);
  // The answer does not depend on how the close ends: nothing was written.
  auto closed = co_await client::close(fs.mount(), std::move(opened->open));
  static_cast<void>(closed);
}

}  // namespace

void handle::mknod(FileSystem& fs, Request request, InodeRef parent, MknodArguments node) {
  auto make = S_ISREG(node.mode) ? make_regular : make_special;
  spawn(make(fs, std::move(request), std::move(parent), std::move(node)));
}

}  // namespace nfsrdma::fuse
