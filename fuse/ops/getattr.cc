#include <cerrno>
#include <utility>

#include "cache/file/io_lock.h"
#include "cache/write/commit.h"
#include "fuse/ops/operations.h"
#include "fuse/ops/reply.h"

namespace nfsrdma::fuse {
namespace {

/// The purpose of the attributes: the kernel names the open file when read(2) needs the size.
enum class Asker : std::uint8_t { stat, read };

/// Whether the kernel needs more than an answer. Stale pages must go before a larger size is
/// reported: the zeros behind the old end in the last page would otherwise be read as data. But
/// while pages are being invalidated, or another caller writes, the kernel does not take in the
/// attributes it asked for. stat(2) returns them nevertheless; read(2) would use a size from before
/// its open. With acregmin=0 the kernel drops pages itself, but only after it has taken in the new
/// size: other readers could see the zeros of the old last page in between.
bool changes_to_show(FileSystem& fs, const Inode& inode, Asker asker) {
  if (fs.kernel().pages_outdated(inode)) return true;
  const auto open = inode.open();
  if (!open || inode.size_is_shown()) return false;
  return fs.kernel().auto_invalidates() || (asker == Asker::read && open->any_writer());
}

Task<void> answer_changed(FileSystem& fs, Request request, InodeRef inode, Asker asker) {
  if (asker == Asker::read || fs.kernel().auto_invalidates()) {
    co_await fs.kernel().show_changes(inode);
  } else {
    co_await fs.kernel().drop_outdated_pages(inode);
  }
  reply_attributes(fs, request, *inode);
}

/// The server would not tell the size that programs have written: not all data are there.
bool misses_data(cache::OpenInode* open) { return open && (open->dirty() || open->may_be_lost()); }

/// The kernel passes over attributes that an order to drop pages overtakes, and goes on to refuse
/// by the mode that it has. Pages of the size that it has can go with the next answer.
bool pages_can_wait(FileSystem& fs, const Inode& inode) {
  return fs.kernel().pages_outdated(inode) && inode.size_is_shown();
}

/// Not to be believed at all, so that the next answer is asked for.
void answer_once(FileSystem& fs, Request& request, Inode& inode) {
  inode.view().forgot_attributes();
  request.reply_attr(fs.kernel().stat_of(inode), 0);
}

/// read(2) asks for the size beyond the end that the kernel knows. Where the reader has lost its
/// lock, what it has written may be missing at the server: that must not look like the end of the
/// file.
bool reader_lost_lock(const FileRef& reader, const Request& request) {
  if (!reader) return false;
  const cache::IoCaller by{0, request.context().pid};
  return cache::lost(cache::lock_for_io(*reader, by, client::ByteRange::whole_file()));
}

/// The server's attributes, after dirty data has been sent. `reader`: the open file that read(2)
/// asks for; null: stat(2).
Task<void> run(FileSystem& fs, Request request, InodeRef inode, FileRef reader, bool must_ask) {
  const Asker asker = reader ? Asker::read : Asker::stat;
  const client::Credential caller = request.caller();
  const auto open = inode->open();
  if (open && open->dirty()) co_await fs.files().writes().behind().flush(open);
  if (reader_lost_lock(reader, request)) {
    request.reply_error(EIO);
    co_return;
  }
  if (must_ask || !fs.attributes().fresh(*inode)) {
    auto fetched = co_await fs.attributes().revalidate(inode, caller);
    if (!fetched) {
      reply_failure(fs, request, fetched.error());
      co_return;
    }
  }
  if (open) co_await cache::restore_lost(fs.files().writes(), open);
  if (must_ask && pages_can_wait(fs, *inode)) {
    answer_once(fs, request, *inode);
  } else if (changes_to_show(fs, *inode, asker)) {
    co_await answer_changed(fs, std::move(request), std::move(inode), asker);
  } else {
    reply_attributes(fs, request, *inode);
  }
}

}  // namespace

void handle::getattr(FileSystem& fs, Request request, InodeRef inode, fuse_getattr_in arguments) {
  const auto open = inode->open();
  FileRef reader;
  if (arguments.getattr_flags & FUSE_GETATTR_FH) reader = fs.find_file(arguments.fh);
  const Asker asker = reader ? Asker::read : Asker::stat;
  if (reader_lost_lock(reader, request)) {
    request.reply_error(EIO);
    return;
  }
  const bool must_ask = fs.kernel().must_ask(*inode);
  if (must_ask || misses_data(open.get()) || !fs.attributes().fresh(*inode)) {
    spawn(run(fs, std::move(request), std::move(inode), std::move(reader), must_ask));
    return;
  }
  fs.count_attribute_hit();
  if (changes_to_show(fs, *inode, asker)) {
    spawn(answer_changed(fs, std::move(request), std::move(inode), asker));
  } else {
    reply_attributes(fs, request, *inode);
  }
}

}  // namespace nfsrdma::fuse
