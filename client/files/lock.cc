#include "client/files/lock.h"

#include "client/files/files.h"
#include "client/files/local_lock.h"
#include "client/requests/free_stateid.h"

namespace nfsrdma::client {
namespace {

using LockRef = FileLocks::LockRef;

Error lost_locks() {
  return Error{Layer::nfs, nfs4::NFS4ERR_EXPIRED, "LOCK",
               "the server has forgotten that the file is open"};
}

/// What the recovery gets back can be given up when it has it. It gets nothing back for a file that
/// nobody has open any more.
Task<void> open_recovered(Files& files, OpenFileRef file) {
  while (file->references() > 0 && file->server_open().recovering()) {
    const bool slept = co_await files.context.session.pauses().pause(Backoff::kFirst);
    if (!slept) break;
  }
}

/// Locks that only this client knows of may be on their way to the server.
Task<Result<void>> local_locks_stay(Files& files, OpenFileRef file) {
  co_await open_recovered(files, file);
  if (file->lost()) co_return fail(lost_locks());
  co_return Result<void>{};
}

LockConflict describe(Files& files, const FileHandle& handle, const LockDenied& denied) {
  LockConflict conflict{denied.range, denied.exclusive};
  if (!denied.owner) return conflict;
  files.open_table.for_each_of(handle, [&](const OpenFile& open) {  // of each user of the mount
    if (const LockRef ours = open.locks().find(*denied.owner)) conflict.pid = ours->pid;
  });
  return conflict;
}

/// `before`: what the owner had locked, and may have no more. Waiters for other parts of the file
/// need not ask.
void note_unlocked(Files& files, const OpenFileRef& file, const LockRef& lock,
                   const LockRanges& before) {
  file->locks().forget_if_unused(lock);
  for (const LockedRange& part : before.all()) {
    files.lock_waiters.unlocked(file->handle(), part.range);
  }
}

}  // namespace

LockRequest request_for(const OpenFileRef& file, const LockRef& lock, const WantedLock& wanted) {
  LockRequest request;
  request.owner = wanted.owner;
  request.range = wanted.range;
  request.exclusive = wanted.exclusive;
  request.will_wait = wanted.will_wait;
  request.new_owner = !lock->established;
  request.state = lock->established ? StateRef(lock) : server_open(file);
  return request;
}

// A recovery may take away the owner's stateid, or give it one.
Task<Result<void>> lock_at_server(Files& files, OpenFileRef file, LockRef lock, WantedLock wanted,
                                  Duration patience) {
  for (;;) {
    if (!file->claimed()) {
      auto claimed = co_await files.opens.claim(file);  // LOCK needs an open at the server
      CO_TRY(claimed);
    }
    const bool known = lock->established;
    Sending sending;
    sending.patience = patience;
    auto granted = co_await send_lock(files.context, lock->caller, file->handle(),
                                      request_for(file, lock, wanted), sending);
    if (granted) lock->granted(*granted);
    if (granted) co_return Result<void>{};
    if (lock->established == known) co_return fail_from(granted);
  }
}

Task<Result<void>> unlock_at_server(Files& files, OpenFileRef file, LockRef lock, ByteRange range) {
  auto unlocked = co_await locku(files.context, lock->caller, file->handle(), lock, range);
  CO_TRY(unlocked);
  lock->given = *unlocked;
  co_return Result<void>{};
}

namespace {

/// What the owner holds of the range, also through other users' opens, whose part goes over to the
/// open that locks when locks are kept here.
LockRanges held_by_owner(Files& files, const OpenFileRef& file, const WantedLock& wanted) {
  LockRanges held;
  files.open_table.for_each_of(file->handle(), [&](const OpenFile& open) {
    const LockRef lock = open.locks().find(wanted.owner);
    if (!lock) return;
    const LockRanges parts = lock->ranges.within(wanted.range);
    for (const LockedRange& part : parts.all()) held.set(part.range, part.exclusive);
  });
  return held;
}

/// What the keeper of locks says.
Task<Result<LockGrant>> ask_keeper(Files& files, OpenFileRef file, LockRef lock, LockKeeper keeper,
                                   WantedLock wanted) {
  if (keeper == LockKeeper::client) {
    LockRanges replaced = held_by_owner(files, file, wanted);
    auto granted = lock_locally(files, file, wanted);
    CO_TRY(granted);
    co_return LockGrant{std::move(file), wanted, std::move(replaced)};
  }
  lock->at_server = true;
  auto granted = co_await lock_at_server(files, file, lock, wanted, Duration::max());
  // A recovery in between has dropped locks that had not been granted yet.
  if (granted) lock->at_server = true;
  if (!granted && !lock->established) lock->at_server = false;
  CO_TRY(granted);
  co_return LockGrant{std::move(file), wanted, lock->ranges.within(wanted.range)};
}

}  // namespace

Task<Result<LockGrant>> lock(Files& files, OpenFileRef file, WantedLock wanted) {
  for (;;) {
    auto done = co_await decide_lock_keeper(files, file->handle());
    CO_TRY(done);
    const LockRef lock = file->locks().obtain(wanted.owner);
    auto guard = co_await lock->changing.lock();
    if (file->lost()) co_return fail(lost_locks());
    const LockKeeper keeper = lock_keeper(files, file->handle());
    const bool doubtful = keeper == LockKeeper::client && !files.context.session.lease_holds();
    if (keeper == LockKeeper::changing || doubtful) continue;
    lock->caller = wanted.caller;
    auto granted = co_await ask_keeper(files, file, lock, keeper, wanted);
    if (granted) {
      lock->pid = wanted.pid;
      lock->ranges.set(wanted.range, wanted.exclusive);
      if (lock->loss_reported) lock->lost_ranges.clear(wanted.range);
      const bool downgraded =
          !wanted.exclusive && granted->replaced.conflicting(wanted.range, wanted.exclusive);
      if (downgraded) files.lock_waiters.unlocked(lock->file.handle(), wanted.range);
    }
    file->locks().forget_if_unused(lock);
    co_return granted;
  }
}

namespace {

/// What undoes a grant.
struct Undo {
  LockRanges gained;  ///< to be unlocked
  LockRanges former;  ///< to be locked again, of their former kind
};

/// What the owner has unlocked since, or locked otherwise, is its own doing.
Undo undo_of(const LockState& lock, const LockGrant& grant) {
  Undo undo;
  const LockRanges left = lock.ranges.within(grant.lock.range);
  for (const LockedRange& held : left.all()) {
    if (held.exclusive == grant.lock.exclusive) undo.gained.set(held.range, held.exclusive);
  }
  for (const LockedRange& before : grant.replaced.all()) {
    if (before.exclusive != grant.lock.exclusive) {
      const LockRanges parts = undo.gained.within(before.range);
      for (const LockedRange& part : parts.all()) undo.former.set(part.range, before.exclusive);
    }
    undo.gained.clear(before.range);
  }
  return undo;
}

Task<Result<void>> unlock_part(Files& files, OpenFileRef file, LockRef lock, ByteRange part) {
  if (lock->at_server) {
    auto sent = co_await unlock_at_server(files, file, lock, part);
    if (!sent && lock->at_server) co_return sent;  // else the server has taken it away meanwhile
  }
  lock->ranges.clear(part);
  co_return Result<void>{};
}

Task<Result<void>> lock_part(Files& files, OpenFileRef file, LockRef lock, WantedLock wanted) {
  Result<void> granted;
  if (lock->at_server) {
    granted = co_await lock_at_server(files, file, lock, wanted, Duration::max());
  } else if (local_conflict(files, file->handle(), wanted)) {
    granted = fail(Error{Layer::nfs, nfs4::NFS4ERR_DENIED, "LOCK", "locked by another process"});
  }
  if (granted) lock->ranges.set(wanted.range, wanted.exclusive);
  co_return granted;
}

}  // namespace

Task<Result<void>> take_back_lock(Files& files, LockGrant grant) {
  const OpenFileRef file = grant.file;
  const LockRef lock = file->locks().find(grant.lock.owner);
  if (!lock) co_return Result<void>{};
  auto guard = co_await lock->changing.lock();
  if (!lock->at_server) {
    auto stay = co_await local_locks_stay(files, file);
    CO_TRY(stay);
  }
  const Undo undo = undo_of(*lock, grant);
  const bool at_server = lock->at_server;  // else it is taken away while it is taken back
  Result<void> outcome;
  for (const LockedRange& part : undo.gained.all()) {
    auto unlocked = co_await unlock_part(files, file, lock, part.range);
    if (!unlocked && outcome) outcome = std::move(unlocked);
  }
  WantedLock wanted = grant.lock;
  wanted.will_wait = false;  // nobody asks again
  for (const LockedRange& part : undo.former.all()) {
    if (lock->at_server != at_server) break;
    wanted.range = part.range;
    wanted.exclusive = part.exclusive;
    auto locked = co_await lock_part(files, file, lock, wanted);
    if (!locked && outcome) outcome = std::move(locked);
  }
  LockRanges taken;  // also a part that is locked again: it may have become weaker
  taken.set(grant.lock.range, grant.lock.exclusive);
  note_unlocked(files, file, lock, taken);
  co_return outcome;
}

Task<Result<void>> unlock(Files& files, OpenFileRef file, LockOwner owner, ByteRange range) {
  const LockRef lock = file->locks().find(owner);
  if (!lock) co_return Result<void>{};
  auto guard = co_await lock->changing.lock();
  if (!lock->at_server) {
    auto stay = co_await local_locks_stay(files, file);
    CO_TRY(stay);
  }
  const LockRanges before = lock->ranges.within(range);
  const bool held = !before.empty();
  if (held && file->lost()) co_return fail(lost_locks());
  if (held) {
    auto unlocked = co_await unlock_part(files, file, lock, range);
    CO_TRY(unlocked);
  }
  const bool unreported = lock->lost_ranges.overlaps(range) && !lock->loss_reported;
  lock->lost_ranges.clear(range);
  if (held) {
    note_unlocked(files, file, lock, before);
  } else {
    file->locks().forget_if_unused(lock);  // nobody can lock more than before
  }
  // The owner has done no I/O since: the last chance to report that the lock was lost.
  if (unreported) co_return fail(lost_locks());
  co_return Result<void>{};
}

namespace {

/// A failure of FREE_STATEID does no harm: the server forgets the stateid with CLOSE.
Task<Result<void>> say_goodbye(Files& files, OpenFileRef file, LockRef lock) {
  Result<void> unlocked;
  if (!lock->ranges.empty()) {
    unlocked = co_await unlock_at_server(files, file, lock, ByteRange::whole_file());
    if (unlocked) lock->ranges = {};  // a recovery from now on must not get them back
  }
  if (unlocked && lock->established && !file->lost()) {
    auto freed = co_await free_stateid(files.context, lock->caller, lock->stateid());
    if (!freed) co_return freed;
  }
  co_return unlocked;
}

}  // namespace

Task<Result<void>> unlock_all(Files& files, OpenFileRef file, LockOwner owner) {
  const LockRef lock = file->locks().find(owner);
  if (!lock) co_return Result<void>{};
  auto guard = co_await lock->changing.lock();
  co_await open_recovered(files, file);
  const LockRanges before = lock->ranges;
  Result<void> outcome;
  if (!lock->at_server && file->lost()) outcome = fail(lost_locks());
  if (lock->at_server && lock->established && !file->lost()) {
    outcome = co_await say_goodbye(files, file, lock);
    if (!lock->at_server) outcome = {};  // taken away meanwhile: nothing is left to be given back
  }
  if (lock->any_lost() && !lock->loss_reported) outcome = fail(lost_locks());
  lock->established = false;
  lock->at_server = false;
  lock->refused = nfs4::NFS4_OK;
  lock->ranges = {};
  lock->lost_ranges = {};
  note_unlocked(files, file, lock, before);
  co_return outcome;
}

Task<Result<std::optional<LockConflict>>> test_lock(Files& files, OpenFileRef file,
                                                    WantedLock wanted) {
  auto done = co_await decide_lock_keeper(files, file->handle());
  CO_TRY(done);
  if (lock_keeper(files, file->handle()) == LockKeeper::client) {
    co_return local_conflict(files, file->handle(), wanted);
  }
  auto tested = co_await lockt(files.context, wanted.caller, file->handle(), wanted.owner,
                               wanted.range, wanted.exclusive);
  CO_TRY(tested);
  std::optional<LockConflict> conflict;
  if (*tested) conflict = describe(files, file->handle(), **tested);
  co_return conflict;
}

}  // namespace nfsrdma::client
