#include <fcntl.h>

#include <string>

#include "fuse/convert/arguments.h"
#include "fuse/ops/open_file.h"
#include "fuse/ops/operations.h"
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

}  // namespace

Task<void> handle::create(FileSystem& fs, Request request, InodeRef parent,
                          CreateArguments arguments) {
  const cache::Issue issue = fs.attributes().issue();
  const client::Credential caller = request.caller();
  const std::string& name = arguments.name;
  const int flags = static_cast<int>(arguments.flags);
  const auto how = (flags & O_EXCL) ? client::CreateMode::exclusive : client::CreateMode::unchecked;
  const client::SetAttributes initial = initial_attributes(arguments.mode, flags);
  auto opened = co_await client::create(fs.mount(), caller, parent->handle(), name, how, initial,
                                        to_share_access(flags));
  if (!opened) {
    reply_failure(fs, request, opened.error());
    co_return;
  }
  fs.attributes().names_changed(*parent, opened->directory);
  InodeRef inode = fs.adopt(opened->handle, opened->attributes, issue, cache::ChangedBy::anyone);
  if (!inode) {
    reply_failure(fs, request, unusable_answer());
    co_return;  // dropping the open closes it
  }
  co_await fs.kernel().drop_pages_before_open(inode);
  OpenAnswer answer;
  FileRef file =
      add_open_file(fs, inode, std::move(opened->open), opened->preserve_unlinked, flags, answer);
  fs.inodes().count_lookup(*inode);
  const EntryAnswer entry = fs.kernel().entry_of(*inode, *parent, name);
  if (!request.reply_create(entry, answer)) {
    fs.inodes().forget(*inode, 1);
    co_await forget_open(fs, std::move(file));
  }
}

}  // namespace nfsrdma::fuse
