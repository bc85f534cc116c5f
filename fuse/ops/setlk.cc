// fcntl(2) and flock(2) locks. A waiting caller holds no slot: the server is asked again when it
// says so, and from time to time. While the file's locks are kept here no other client can change
// it, so nothing has to be sent first, or asked for afterwards (RFC 8881 section 10.4.2).
#include <fcntl.h>

#include "cache/file/io_lock.h"
#include "cache/lock/file_locks.h"
#include "cache/write/commit.h"
#include "client/requests/errno.h"
#include "client/state/lock_waiters.h"
#include "fuse/convert/lock.h"
#include "fuse/ops/operations.h"
#include "fuse/ops/reply.h"
#include "transport/base/sync/pauses.h"

namespace nfsrdma::fuse {
namespace {

int to_lock_errno(const Error& error) {
  const bool denied = error.is(Layer::nfs, nfs4::NFS4ERR_DENIED);
  return denied ? EAGAIN : client::to_errno(error);
}

/// Ends when it is worth asking again, or when the caller gets a signal.
Task<void> wait_for_a_change(FileSystem& fs, Request& request, FileRef file, Duration longest) {
  client::LockWaiters::Wait wait(fs.mount().lock_waiters(), file->inode->handle(), longest);
  request.on_interrupt([&wait] { wait.cancel(); });
  co_await wait;
  request.on_interrupt(nullptr);
}

/// flock(2) has no deadlocks: another thread may release the waiter's own lock.
bool is_to_be_waited_for(const Error& error, const client::LockWish& wish) {
  if (error.is(Layer::nfs, nfs4::NFS4ERR_DENIED)) return true;
  return error.is(Layer::nfs, nfs4::NFS4ERR_DEADLOCK) && wish.owner.kind == client::LockKind::flock;
}

/// Asks until the lock is granted, or there is a reason to stop.
Task<Result<void>> obtain(FileSystem& fs, Request& request, FileRef file, client::LockWish wish) {
  Backoff backoff;
  for (;;) {
    auto locked = co_await client::lock(fs.mount(), file->open.file(), wish);
    if (locked || !wish.will_wait) co_return locked;
    if (!is_to_be_waited_for(locked.error(), wish)) co_return locked;
    co_await wait_for_a_change(fs, request, file, backoff.next());
    const bool over = request.answered() || request.interrupted();
    if (over || fs.mount().lock_waiters().ended()) {
      co_return fail(Error::local(EINTR, "LOCK", "interrupted while waiting"));
    }
  }
}

/// After a lock was granted: what others wrote before it is seen from now on. The kernel keeps no
/// page of another version.
Task<void> see_changes(FileSystem& fs, FileRef file) {
  Inode& inode = file->node();
  if (!cache::locked_here(fs.mount(), inode.handle()) || !inode.attributes().stands()) {
    auto seen = co_await fs.attributes().revalidate(file);
    if (!seen) {
      inode.attributes().expire();
      inode.view().forget_pages();
    }
  }
  co_await fs.kernel().show_changes(&inode);
  fs.kernel().drop_outdated_attributes(inode);
}

Task<void> run_lock(FileSystem& fs, Request request, FileRef file, client::LockWish wish) {
  if (!cache::locked_here(fs.mount(), file->inode->handle()))
    co_await fs.files().writes().behind().flush(file->shared);
  auto locked = co_await obtain(fs, request, file, wish);
  if (!locked) {
    note_failure(fs, request, locked.error());
    request.reply_error(to_lock_errno(locked.error()));
    co_return;
  }
  co_await see_changes(fs, file);
  if (request.reply_ok()) co_return;
  // The caller was killed meanwhile; its files may have been closed before this lock came.
  auto undone = co_await client::unlock(fs.mount(), file->open.file(), wish.owner, wish.range);
  (void)undone;
}

/// What was written under the lock becomes durable first. Otherwise it might be sent again, after a
/// reboot of the server, over what the next holder has written.
Task<void> run_unlock(FileSystem& fs, Request request, FileRef file, client::LockWish wish) {
  if (file->writable() && !cache::locked_here(fs.mount(), file->inode->handle()))
    co_await cache::commit_file(fs.files().writes(), file);
  auto unlocked =
      co_await cache::unlock_everywhere(fs.files().writes(), file->shared, wish.owner, wish.range);
  reply_done(fs, request, unlocked);
}

}  // namespace

void handle::setlk(FileSystem& fs, Request request, FileRef file, fuse_lk_in arguments) {
  const bool flock = (arguments.lk_flags & FUSE_LK_FLOCK) != 0;
  client::LockWish wish;
  wish.owner = {flock ? client::LockKind::flock : client::LockKind::posix, arguments.owner};
  if (!flock) wish.range = to_range(arguments.lk);
  wish.will_wait = request.opcode() == FUSE_SETLKW;
  wish.pid = request.context().pid;
  wish.exclusive = arguments.lk.type == F_WRLCK;
  if (arguments.lk.type == F_UNLCK) {
    spawn(run_unlock(fs, std::move(request), std::move(file), wish));
  } else {
    if (flock) {
      file->flock_owner = wish.owner.id;
    } else {
      cache::note_locker(*file, wish.owner.id);
    }
    spawn(run_lock(fs, std::move(request), std::move(file), wish));
  }
}

}  // namespace nfsrdma::fuse
