// fcntl(2) and flock(2) locks. A caller who waits holds no slot: the server is asked again when it
// says so, and from time to time. While the file's locks are kept here nobody else can change it,
// so nothing has to be sent first, or asked for afterwards (RFC 8881 section 10.4.2).
#include <sys/file.h>

#include "client/requests/errno.h"
#include "client/state/lock_waiters.h"
#include "fuse/convert/lock.h"
#include "fuse/ops/commit.h"
#include "fuse/ops/file_locks.h"
#include "fuse/ops/handlers.h"
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

/// flock(2) knows no deadlock: who waits may have his own lock given back by another thread.
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

Task<void> run_lock(FileSystem& fs, Request request, FileRef file, client::LockWish wish) {
  if (!locked_here(fs, file->inode->handle())) co_await fs.write_behind().flush(file->shared);
  auto locked = co_await obtain(fs, request, file, wish);
  if (!locked) {
    note_failure(request, locked.error());
    request.reply_error(to_lock_errno(locked.error()));
    co_return;
  }
  co_await see_changes(fs, file);
  if (request.reply_ok()) co_return;
  // The caller was killed meanwhile; his files may have been closed before this lock came.
  auto undone = co_await client::unlock(fs.mount(), file->open.file(), wish.owner, wish.range);
  (void)undone;
}

/// What was written under the lock becomes durable first. Otherwise it might be sent again, after a
/// reboot of the server, over what the next holder has written.
Task<void> run_unlock(FileSystem& fs, Request request, FileRef file, client::LockWish wish) {
  if (file->writable() && !locked_here(fs, file->inode->handle())) co_await commit_file(fs, file);
  auto unlocked = co_await unlock_everywhere(fs, file->shared, wish.owner, wish.range);
  if (unlocked) {
    request.reply_ok();
  } else {
    reply_failure(request, unlocked.error());
  }
}

void start(fuse_req_t req, fuse_file_info* info, int type, client::LockWish wish) {
  FileSystem& fs = FileSystem::of(req);
  Request request(req);
  FileRef file = file_or_refuse(fs, request, *info);
  if (!file) return;
  wish.owner.id = info->lock_owner;
  wish.pid = request.context().pid;
  wish.exclusive = type == F_WRLCK;
  if (type == F_UNLCK) {
    spawn(run_unlock(fs, std::move(request), std::move(file), wish));
  } else {
    if (wish.owner.kind == client::LockKind::posix) note_locker(*file, wish.owner.id);
    if (wish.owner.kind == client::LockKind::flock) file->flock_owner = wish.owner.id;
    spawn(run_lock(fs, std::move(request), std::move(file), wish));
  }
}

}  // namespace

void handle::setlk(fuse_req_t req, fuse_ino_t, fuse_file_info* info, struct ::flock* lock,
                   int wait) {
  client::LockWish wish;
  wish.owner.kind = client::LockKind::posix;
  wish.range = to_range(*lock);
  wish.will_wait = wait != 0;
  start(req, info, lock->l_type, wish);
}

void handle::flock(fuse_req_t req, fuse_ino_t, fuse_file_info* info, int operation) {
  client::LockWish wish;
  wish.owner.kind = client::LockKind::flock;
  wish.will_wait = (operation & LOCK_NB) == 0;
  const int kind = operation & ~LOCK_NB;
  const int type = kind == LOCK_EX ? F_WRLCK : kind == LOCK_SH ? F_RDLCK : F_UNLCK;
  start(req, info, type, wish);
}

}  // namespace nfsrdma::fuse
