#include "client/files/setattr.h"

#include <algorithm>
#include <optional>

#include "cache/file/io_lock.h"
#include "fuse/convert/arguments.h"
#include "fuse/ops/operations.h"
#include "fuse/ops/reply.h"

namespace nfsrdma::fuse {
namespace {

/// An open through which the size may be changed: the given one, or any of the same user.
cache::FileRef writer_of(const FileRef& file, cache::OpenInode& open,
                         const client::Credential& caller) {
  if (file && file->writable()) return file;
  cache::FileRef found;
  open.files.for_each([&](cache::File& other) {
    if (!found && other.writable() && other.caller.uid == caller.uid) found = &other;
  });
  return found;
}

/// The attributes to set, and the caller.
struct Change {
  client::Credential caller;
  client::StateRef state;  ///< empty: the anonymous stateid
  std::int32_t pid = 0;    ///< of the caller
  client::SetAttributes set;
};

Task<void> apply_change(FileSystem& fs, Request request, InodeRef inode, Change change) {
  const cache::Issue issue = fs.attributes().issue();
  auto changed = co_await client::setattr(fs.mount(), change.caller, inode->handle(), change.state,
                                          change.set);
  if (!changed) {
    reply_failure(fs, request, changed.error());
    co_return;
  }
  const auto open = inode->open();
  if (open && change.set.size) open->uncommitted.truncate(*change.set.size);
  fs.attributes().learn(*inode, changed->attributes, issue,
                        cache::ChangedBy::us(changed->change_before));
  reply_attributes(fs, request, *inode, /*asked=*/false);
  if (change.set.size) inode->view().size_is(inode->attributes().value().size);
}

/// A change of size waits for the writes under way, so that none of them is sent again after it.
Task<void> change_size(FileSystem& fs, Request request, InodeRef inode, FileRef file,
                       Change change) {
  const std::shared_ptr<cache::OpenInode> open = inode->open();
  if (!open) {
    co_await apply_change(fs, std::move(request), std::move(inode), change);
    co_return;
  }
  const cache::FileRef writer = writer_of(file, *open, change.caller);
  co_await fs.files().writes().behind().flush(open);
  auto pass = co_await open->gate.enter(cache::WriteGate::Mode::exclusive);
  if (writer && writer->open) {
    change.caller = writer->caller;
    const std::uint64_t from = std::min(*change.set.size, inode->attributes().value().size);
    const client::ByteRange range{from, client::ByteRange::kEnd};
    change.state = cache::io_state(
        *writer, cache::lock_for_io(*writer, cache::IoCaller{0, change.pid}, range));
  }
  co_await apply_change(fs, std::move(request), std::move(inode), change);
}

/// Writes set the times: what was written before is sent before. Most programs close the file next.
Task<void> change_others(FileSystem& fs, Request request, InodeRef inode, Change change) {
  const auto open = inode->open();
  if (open && open->dirty()) co_await fs.files().writes().behind().flush_durably(open);
  co_await apply_change(fs, std::move(request), std::move(inode), change);
}

}  // namespace

void handle::setattr(FileSystem& fs, Request request, InodeRef inode, fuse_setattr_in arguments) {
  Change change;
  change.caller = request.caller();
  change.pid = request.context().pid;
  change.set = to_set_attributes(arguments);
  if (change.set.empty()) {
    reply_attributes(fs, request, *inode, /*asked=*/false);
  } else if (change.set.size) {
    FileRef file = (arguments.valid & FATTR_FH) ? fs.find_file(arguments.fh) : FileRef();
    spawn(change_size(fs, std::move(request), std::move(inode), std::move(file), change));
  } else {
    spawn(change_others(fs, std::move(request), std::move(inode), change));
  }
}

}  // namespace nfsrdma::fuse
