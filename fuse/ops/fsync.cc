#include <cerrno>
#include <cstdint>
#include <optional>
#include <utility>

#include "cache/file/io_lock.h"
#include "cache/lock/file_locks.h"
#include "cache/write/commit.h"
#include "fuse/ops/operations.h"
#include "fuse/ops/reply.h"
#include "transport/base/log.h"
#include "transport/base/sync/task_group.h"

namespace nfsrdma::fuse {
namespace {

/// An error that fsync has told is told no more. One that close has told stays for fsync: the
/// descriptor may have been closed by a child of the writer, or by the exit of a killed program.
void report(Request& request, File& file, bool closes, bool lock_lost) {
  cache::WriteErrors& errors = file.shared->errors;
  const int failed = closes ? errors.due_at_close(file.errors_seen) : errors.due(file.errors_seen);
  // If the caller was interrupted, the next caller gets the error, or the log.
  const bool replied = request.reply_error(failed == 0 && lock_lost ? EIO : failed);
  if (!replied) return;
  if (!closes) {
    errors.take(file.errors_seen);
  } else if (failed != 0) {
    errors.told_at_close();
  }
}

Task<void> ask_for_attributes(FileSystem& fs, FileRef file) {
  auto asked = co_await fs.attributes().revalidate(file);
  if (!asked) log::debug("{}", asked.error().message());
}

/// Writes are on their way that need no COMMIT, and none are gathered: no request is to come that
/// brings attributes, so they are asked for meanwhile.
bool only_waits(cache::OpenInode& open) {
  return open.order.gathered() > 0 && open.order.unstable() == 0 && open.uncommitted.empty() &&
         open.gathering.bytes.empty();
}

/// MPI-IO's sync-barrier-sync, and programs that tell each other "it is written" by other ways: who
/// calls fsync(2) sees afterwards what others have written and synced before.
Task<void> show_after_sync(FileSystem& fs, FileRef file, cache::Issue begun) {
  if (!file->open) co_return;
  // Own requests since then have brought what others have changed.
  const bool told = file->inode->attributes().data_newer_than(begun.order);
  if (!told) co_await ask_for_attributes(fs, file);
  co_await fs.kernel().show_changes(&file->node());
  fs.kernel().drop_outdated_attributes(file->node());
}

/// Commits, and reports what went wrong. `closer`: the lock owner that closes a descriptor; empty:
/// none does. `leaving`: a process that closes any descriptor of a file gives up all its fcntl
/// locks on it.
Task<void> run(FileSystem& fs, Request request, FileRef file, std::optional<std::uint64_t> closer,
               std::optional<cache::Departure> leaving) {
  const cache::Issue begun = fs.attributes().issue();
  // A delegation tells of changes by others.
  const bool shows = !closer && !fs.attributes().delegated(*file->inode);
  const auto asks = shows ? cache::CommitAsks::attributes : cache::CommitAsks::nothing;
  const cache::FileRef writer = file->writable() ? file : file->shared->any_writer();
  TaskGroup asking(fs.mount().reactor());
  if (shows && only_waits(*file->shared)) asking.start(ask_for_attributes(fs, file));
  if (writer) co_await cache::commit_file(fs.files().writes(), writer, asks);
  co_await asking.empty();
  if (shows) co_await show_after_sync(fs, file, begun);
  // Data read and written under a lost lock may be wrong, and its owner must learn that.
  const cache::IoCaller by{closer.value_or(0), request.context().pid};
  bool lock_lost = cache::lost(cache::lock_for_io(*file, by, client::ByteRange::whole_file()));
  if (leaving) {
    const bool kept = co_await cache::release_locks(fs.files().writes(), std::move(*leaving));
    lock_lost = lock_lost || !kept;
  }
  if (closer) co_await fs.kernel().page_writer().close(&file->node());
  report(request, *file, closer.has_value(), lock_lost);
}

}  // namespace

void handle::fsync(FileSystem& fs, Request request, FileRef file, fuse_fsync_in) {
  spawn(run(fs, std::move(request), std::move(file), std::nullopt, std::nullopt));
}

/// close(2) returns when everything is at the server and durable: other clients that open the file
/// afterwards see it (close-to-open).
void handle::flush(FileSystem& fs, Request request, FileRef file, fuse_flush_in arguments) {
  const client::LockOwner owner{client::LockKind::posix, arguments.lock_owner};
  cache::forget_locker(*file->shared, owner.id);
  std::optional<cache::Departure> leaving;
  if (cache::may_hold_locks(*file->shared, owner)) leaving.emplace(file->shared, owner);
  const bool kept = fs.kernel().page_writer().keeps(file->node());
  if (!file->writable() && !leaving && !kept) {
    request.reply_ok();
    return;
  }
  spawn(run(fs, std::move(request), std::move(file), owner.id, std::move(leaving)));
}

}  // namespace nfsrdma::fuse
