#include "client/requests/lookup.h"

#include <cerrno>
#include <string>
#include <string_view>

#include "client/requests/errno.h"
#include "fuse/ops/operations.h"
#include "fuse/ops/reply.h"

namespace nfsrdma::fuse {
namespace {

/// "There is no such name", in the form that lets the kernel remember it.
void reply_missing(FileSystem& fs, Request& request, Inode& parent, std::string_view name) {
  const EntryAnswer entry = fs.kernel().missing_entry(parent, name);
  if (entry.entry_timeout > 0) {
    request.reply_entry(entry);
  } else {
    request.reply_error(ENOENT);
  }
}

/// To SizeRevalidator's thread. Neither name nor attributes are believed longer than it takes to
/// read them back.
void show_size(FileSystem& fs, SizeRevalidator& sizes, Request& request) {
  const InodeRef inode = sizes.answered();
  if (!inode) {
    request.reply_error(ENOENT);
    return;
  }
  EntryAnswer entry;
  entry.node = inode->id();
  entry.attributes = fs.kernel().stat_of(*inode);
  sizes.telling(static_cast<std::uint64_t>(entry.attributes.st_size));
  fs.inodes().count_lookup(*inode);
  if (!request.reply_entry(entry)) fs.inodes().forget(*inode, 1);
}

}  // namespace

Task<void> handle::lookup(FileSystem& fs, Request request, InodeRef parent,
                          NameArguments arguments) {
  const std::string& name = arguments.name;
  SizeRevalidator& sizes = fs.kernel().size_revalidator();
  if (sizes.is_asked_for(*parent, name)) {
    show_size(fs, sizes, request);
    co_return;
  }
  const cache::Issue issue = fs.attributes().issue();
  const client::Credential caller = request.caller();
  auto found = co_await client::lookup(fs.mount(), caller, parent->handle(), name);
  if (found) {
    const InodeRef inode =
        fs.adopt(found->handle, found->attributes, issue, cache::ChangedBy::anyone);
    if (inode && fs.kernel().pages_outdated(*inode))
      co_await fs.kernel().drop_outdated_pages(inode);
    reply_found(fs, request, *parent, name, inode);
  } else if (client::to_errno(found.error()) == ENOENT) {
    reply_missing(fs, request, *parent, name);
  } else {
    reply_failure(fs, request, found.error());
  }
}

}  // namespace nfsrdma::fuse
