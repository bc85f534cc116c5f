#include <cerrno>
#include <cstdint>
#include <optional>
#include <utility>

#include "cache/file/io_lock.h"
#include "cache/lock/file_locks.h"
#include "cache/write/commit.h"
#include "fuse/ops/operations.h"
#include "fuse/ops/reply.h"

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

/// Commits, and reports what went wrong. `closer`: the lock owner that closes a descriptor; empty:
/// none does. `leaving`: a process that closes any descriptor of a file gives up all its fcntl
/// locks on it.
Task<void> run(FileSystem& fs, Request request, FileRef file, std::optional<std::uint64_t> closer,
               std::optional<cache::Departure> leaving) {
  const cache::FileRef writer = file->writable() ? file : file->shared->any_writer();
  if (writer) co_await cache::commit_file(fs.files().writes(), writer);
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
