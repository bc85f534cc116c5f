#include <cerrno>
#include <string>
#include <string_view>
#include <utility>

#include "cache/name/make_names.h"
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

/// Answers SizeRevalidator's thread. Name and attributes have no lifetime: the kernel looks the
/// name up each time, and the thread reads the size that it took in by AT_STATX_DONT_SYNC.
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

/// Answers PageWriter's thread, which opens the file next. The name has no lifetime.
Task<void> show_for_pages(FileSystem& fs, Request request, InodeRef inode) {
  if (fs.kernel().pages_outdated(*inode)) co_await fs.kernel().drop_outdated_pages(inode);
  EntryAnswer entry;
  entry.node = inode->id();
  entry.attributes = fs.kernel().stat_of(*inode);
  entry.attribute_timeout = fs.kernel().attribute_timeout(*inode);
  fs.kernel().advertised(*inode, /*asked=*/false);
  fs.inodes().count_lookup(*inode);
  if (!request.reply_entry(entry)) fs.inodes().forget(*inode, 1);
}

}  // namespace

Task<void> handle::lookup(FileSystem& fs, Request request, InodeRef parent,
                          NameArguments arguments) {
  const std::string& name = arguments.name;
  SizeRevalidator& sizes = fs.kernel().size_revalidator();
  if (sizes.is_asked_for(*parent, name)) {
    // A further change may be known by now: its size would be shown with pages of the one before.
    const InodeRef target = sizes.answered();
    if (target && fs.kernel().pages_outdated(*target))
      co_await fs.kernel().drop_outdated_pages(target);
    show_size(fs, sizes, request);
    co_return;
  }
  const pid_t thread = request.context().pid;
  if (InodeRef target = fs.kernel().page_writer().asked_for(*parent, name, thread)) {
    co_await show_for_pages(fs, std::move(request), std::move(target));
    co_return;
  }
  const client::Credential caller = request.caller();
  if (const auto missing = fs.kernel().known_missing(*parent, caller, name)) {
    request.reply_entry(*missing);
    co_return;
  }
  auto found = co_await cache::lookup(fs.attributes(), caller, parent, name);
  if (!found) {
    // On ESTALE the kernel looks most paths up again, but not that of mkdir(2), mknod(2),
    // symlink(2) and link(2): the next try would be stale, too.
    const bool gone = found.error().is(Layer::nfs, nfs4::NFS4ERR_STALE);
    if (gone) fs.kernel().doubt_names_of(fs.inodes(), *parent);
    reply_failure(fs, request, found.error(), name);
  } else if (!*found) {
    reply_missing(fs, request, *parent, name);
  } else {
    const InodeRef inode = with_view(*found);
    if (fs.kernel().pages_outdated(*inode)) co_await fs.kernel().drop_outdated_pages(inode);
    reply_entry(fs, request, *parent, name, *inode);
  }
}

}  // namespace nfsrdma::fuse
