#include "fuse/convert/lock.h"
#include "fuse/ops/operations.h"
#include "fuse/ops/reply.h"

namespace nfsrdma::fuse {
namespace {

/// What was stored to a mapping before is written, as what was written by write(2) is. Under a
/// write delegation nobody else sees the file.
Task<void> write_stores(FileSystem& fs, FileRef file) {
  if (cache::locked_here(fs.mount(), file->inode->handle())) co_return;
  co_await fs.kernel().page_writer().write(&file->node(), PageWriter::Opens::keeps);
}

/// Makes writes by others from before the grant visible. The kernel keeps no page of another
/// version.
Task<void> show_changes(FileSystem& fs, FileRef file) {
  Inode& inode = file->node();
  const bool known = co_await cache::see_changes(fs.files().writes(), file);
  if (!known) inode.view().forget_pages();
  co_await fs.kernel().show_changes(&inode);
  fs.kernel().drop_outdated_attributes(inode);
}

Task<void> run_lock(FileSystem& fs, Request request, FileRef file, client::WantedLock wanted) {
  cache::LockCaller caller;
  request.on_interrupt([&caller] { caller.interrupt(); });
  // Also when the lock becomes weaker, and because pages that others have outdated are dropped
  // next.
  co_await write_stores(fs, file);
  auto locked = co_await cache::lock(fs.files().writes(), file, wanted, caller);
  request.on_interrupt(nullptr);
  if (!locked) {
    reply_failure(fs, request, locked.error());
    co_return;
  }
  co_await show_changes(fs, file);
  if (request.reply_ok()) co_return;
  // The caller was killed meanwhile; its files may have been closed before this lock came, or
  // others have its open file, whose locks they keep.
  co_await cache::take_back_lock(fs.files().writes(), file, std::move(*locked));
}

Task<void> run_unlock(FileSystem& fs, Request request, FileRef file, client::WantedLock wanted) {
  if (cache::may_hold_locks(*file->shared, wanted.owner)) co_await write_stores(fs, file);
  auto unlocked = co_await cache::unlock(fs.files().writes(), file, wanted.owner, wanted.range);
  reply_done(fs, request, unlocked);
}

}  // namespace

void handle::setlk(FileSystem& fs, Request request, FileRef file, fuse_lk_in arguments) {
  client::WantedLock wanted = to_wanted_lock(arguments);
  wanted.will_wait = request.opcode() == FUSE_SETLKW;
  wanted.pid = request.context().pid;
  const auto run = arguments.lk.type == F_UNLCK ? run_unlock : run_lock;
  spawn(run(fs, std::move(request), std::move(file), wanted));
}

}  // namespace nfsrdma::fuse
