#include <fcntl.h>

#include <string>

#include "fuse/convert/arguments.h"
#include "fuse/ops/handlers.h"
#include "fuse/ops/open_file.h"
#include "fuse/ops/reply.h"

namespace nfsrdma::fuse {
namespace {

client::SetAttributes initial_attributes(mode_t mode, int flags) {
  constexpr mode_t kPermissionBits = 07777;
  client::SetAttributes initial;
  initial.mode = mode & kPermissionBits;
  if ((flags & O_TRUNC) && !(flags & O_EXCL)) initial.size = 0;
  return initial;
}

Task<void> run(FileSystem& fs, Request request, InodeRef parent, std::string name, mode_t mode,
               fuse_file_info info) {
  const cache::Issue issue = fs.issue();
  const client::Credential caller = request.caller();
  const auto how =
      (info.flags & O_EXCL) ? client::CreateMode::exclusive : client::CreateMode::unchecked;
  const client::SetAttributes initial = initial_attributes(mode, info.flags);
  auto opened = co_await client::create(fs.mount(), caller, parent->handle(), name, how, initial,
                                        to_share_access(info.flags));
  if (!opened) {
    reply_failure(request, opened.error());
    co_return;
  }
  fs.names_changed(*parent);
  InodeRef inode = fs.adopt(opened->handle, opened->attributes, issue, ChangedBy::anyone);
  if (!inode) {
    reply_failure(request, unusable_answer());
    co_return;  // dropping the open closes it
  }
  co_await drop_pages_before_open(fs, inode);
  FileRef file = add_open_file(fs, inode, std::move(opened->open), opened->preserve_unlinked, info);
  fs.inodes().count_lookup(*inode);
  const fuse_entry_param entry = fs.entry_of(*inode, *parent, name);
  if (!request.reply_create(entry, info)) {
    fs.inodes().forget(*inode, 1);
    co_await forget_open(fs, std::move(file));
  }
}

}  // namespace

void handle::create(fuse_req_t req, fuse_ino_t parent, const char* name, mode_t mode,
                    fuse_file_info* info) {
  FileSystem& fs = FileSystem::of(req);
  Request request(req);
  InodeRef directory = inode_or_refuse(fs, request, parent);
  if (directory) spawn(run(fs, std::move(request), std::move(directory), name, mode, *info));
}

}  // namespace nfsrdma::fuse
