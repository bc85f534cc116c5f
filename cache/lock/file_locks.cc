#include "cache/lock/file_locks.h"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "cache/file/io_lock.h"
#include "cache/write/commit.h"
#include "client/files/local_lock.h"
#include "client/state/lock_waiters.h"
#include "transport/base/log.h"
#include "transport/base/sync/pauses.h"

namespace nfsrdma::cache {

/// The time until it is worth asking for a lock again, or its caller is interrupted.
class LockPause : public client::LockWaiters::Wait {
 public:
  LockPause(client::LockWaiters::Turn& turn, Duration longest, LockCaller& caller)
      : Wait(turn, longest), caller_(caller) {
    caller_.wait_ = this;
    if (caller_.interrupted_) cancel();
  }
  ~LockPause() { caller_.wait_ = nullptr; }

 private:
  LockCaller& caller_;
};

namespace {

using LockedFiles = std::vector<client::OpenFileRef>;

/// Open files of the inode through which the owner has locked: more than one when users differ.
LockedFiles locked_by(OpenInode& open, const client::LockOwner& owner) {
  LockedFiles found;
  if (!open.locking.contains(owner)) return found;
  open.files.for_each([&](File& file) {
    const client::OpenFileRef& ref = file.open.file();
    if (!ref || !ref->locks().find(owner)) return;
    if (std::find(found.begin(), found.end(), ref) == found.end()) found.push_back(ref);
  });
  return found;
}

bool holds_through(const client::OpenFileRef& file, const client::LockOwner& owner) {
  const auto lock = file ? file->locks().find(owner) : nullptr;
  return lock && !lock->ranges.empty();
}

bool holds(OpenInode& open, const client::LockOwner& owner) {
  return std::ranges::any_of(locked_by(open, owner), [&](const client::OpenFileRef& file) {
    return holds_through(file, owner);
  });
}

/// Whether the owner has asked for locks through an open file that a program still has.
bool has_locker(OpenInode& open, const client::LockOwner& owner) {
  bool found = false;
  open.files.for_each([&](const File& file) {
    if (file.released) return;
    const auto& ids = file.lockers;
    found = found || (owner.kind == client::LockKind::flock
                          ? file.flock_owner == owner.id
                          : std::find(ids.begin(), ids.end(), owner.id) != ids.end());
  });
  return found;
}

/// What was written under the locks is durable then. Whichever open it was written through: sent
/// later, or again, it would overwrite what the next holder of a lock has written.
Task<void> write_before_unlock(WriteBack& writes, std::shared_ptr<OpenInode> open,
                               LockedFiles files) {
  if (files.empty() || locked_here(writes.mount(), files.front()->handle())) co_return;
  {
    // Those, too, whose callers wait no longer (killed, or soft): nobody else waits for them.
    WriteOrder::Reading under_way(open->order, 0, std::numeric_limits<std::size_t>::max());
    co_await under_way;
  }
  if (const FileRef writer = open->any_writer()) co_await commit_file(writes, writer);
  co_await writes.behind().flush(open);
}

/// The owner is known as one that may have locks from before the request on.
Task<Result<client::LockGrant>> ask_for_lock(client::Mount& mount, FileRef file,
                                             client::WantedLock wanted) {
  LockingOwners::Asking asking(file->shared->locking, wanted.owner);
  auto locked = co_await client::lock(mount, file->open.file(), wanted);
  co_return locked;
}

/// flock(2) has no deadlocks: another thread may release the waiter's own lock.
bool is_to_be_waited_for(const Error& error, const client::WantedLock& wanted) {
  if (error.is(Layer::nfs, nfs4::NFS4ERR_DENIED)) return true;
  return error.is(Layer::nfs, nfs4::NFS4ERR_DEADLOCK) &&
         wanted.owner.kind == client::LockKind::flock;
}

}  // namespace

Departure::Departure(std::shared_ptr<OpenInode> open, client::LockOwner owner)
    : open_(std::move(open)), owner_(owner) {
  open_->leaving.add(owner_);
}

Departure::~Departure() {
  if (open_) open_->leaving.remove(owner_);
}

bool locked_here(client::Mount& mount, const client::FileHandle& file) {
  return client::lock_keeper(mount, file) == client::LockKeeper::client;
}

bool may_hold_locks(OpenInode& open, const client::LockOwner& owner) {
  const bool any = !locked_by(open, owner).empty();
  if (!any) open.locking.remove(owner);
  return any;
}

Task<Result<client::LockGrant>> lock(WriteBack& writes, FileRef file, client::WantedLock wanted,
                                     LockCaller& caller) {
  client::Mount& mount = writes.mount();
  wanted.caller = file->caller;
  if (wanted.owner.kind == client::LockKind::flock) {
    file->flock_owner = wanted.owner.id;
  } else {
    note_locker(*file, wanted.owner.id);
  }
  if (!locked_here(mount, file->inode->handle())) co_await writes.behind().flush(file->shared);
  Backoff backoff;
  std::optional<client::LockWaiters::Turn> turn;
  // A closed file has nobody to lock for. F_SETLK goes on after a signal that its caller handles.
  while (file->open && !(wanted.will_wait && caller.interrupted())) {
    if (file->shared->leaving.contains(wanted.owner)) {
      co_await file->shared->leaving.wait();
      continue;
    }
    if (turn) turn->asks();
    auto locked = co_await ask_for_lock(mount, file, wanted);
    if (locked && turn) turn->granted();
    if (locked || !wanted.will_wait) co_return locked;
    if (!is_to_be_waited_for(locked.error(), wanted)) co_return locked;
    if (wanted.owner.kind == client::LockKind::flock && holds(*file->shared, wanted.owner)) {
      // As flock(2) does it: two that wait for each other to give up their shared lock hang.
      auto given_up = co_await unlock(writes, file, wanted.owner, wanted.range);
      if (!given_up) co_return fail_from(given_up);
      continue;  // who has unlocked meanwhile has woken nobody
    }
    const bool holds_others = holds_through(file->open.file(), wanted.owner);
    if (turn) {
      turn->refused(holds_others);
    } else {
      turn.emplace(mount.lock_waiters(), file->inode->handle(), wanted.owner, wanted.range,
                   wanted.exclusive, holds_others);
    }
    LockPause pause(*turn, backoff.next(), caller);
    co_await pause;
    if (mount.lock_waiters().ended()) break;
  }
  co_return fail(Error::local(EINTR, "LOCK", "interrupted while waiting"));
}

Task<bool> see_changes(WriteBack& writes, FileRef file) {
  Inode& inode = *file->inode;
  file->shared->drop_read_ahead();
  const bool unchanged = locked_here(writes.mount(), inode.handle());
  if (unchanged && inode.attributes().stands()) co_return true;
  auto seen = co_await writes.attributes().revalidate(file);
  if (!seen) inode.attributes().expire();
  co_return seen.has_value();
}

Task<Result<std::optional<client::LockConflict>>> test_lock(client::Mount& mount, FileRef file,
                                                            client::WantedLock wanted) {
  wanted.caller = file->caller;
  auto tested = co_await client::test_lock(mount, file->open.file(), wanted);
  co_return tested;
}

Task<Result<void>> unlock(WriteBack& writes, FileRef file, client::LockOwner owner,
                          client::ByteRange range) {
  const auto files = locked_by(*file->shared, owner);
  co_await write_before_unlock(writes, file->shared, files);
  Result<void> outcome;
  for (const client::OpenFileRef& locked : files) {
    auto unlocked = co_await client::unlock(writes.mount(), locked, owner, range);
    if (!unlocked && outcome) outcome = std::move(unlocked);
  }
  co_return outcome;
}

Task<void> take_back_lock(WriteBack& writes, FileRef file, client::LockGrant grant) {
  const std::uint64_t fileid = grant.file->fileid();
  LockedFiles locked(1, grant.file);
  co_await write_before_unlock(writes, file->shared, std::move(locked));
  auto taken_back = co_await client::take_back_lock(writes.mount(), std::move(grant));
  if (taken_back) co_return;
  log::warning("a lock of inode {} that nobody took is not as before: {}", fileid,
               taken_back.error().message());
}

Task<bool> release_locks(WriteBack& writes, Departure leaving) {
  bool kept = true;
  const auto files = locked_by(*leaving.open(), leaving.owner());
  co_await write_before_unlock(writes, leaving.open(), files);
  for (const client::OpenFileRef& file : files) {
    auto released = co_await client::unlock_all(writes.mount(), file, leaving.owner());
    if (released) continue;
    log::warning("releasing the locks of inode {}: {}", file->fileid(), released.error().message());
    kept = kept && !released.error().is(Layer::nfs, nfs4::NFS4ERR_EXPIRED);
  }
  (void)may_hold_locks(*leaving.open(), leaving.owner());  // it is forgotten if not
  co_return kept;
}

std::vector<Departure> departures(File& file, std::uint64_t flock_owner) {
  std::vector<client::LockOwner> owners{{client::LockKind::flock, flock_owner}};
  for (const std::uint64_t owner : std::exchange(file.lockers, {})) {
    owners.push_back({client::LockKind::posix, owner});
  }
  std::vector<Departure> leaving;
  for (const client::LockOwner& owner : owners) {
    if (!may_hold_locks(*file.shared, owner) || has_locker(*file.shared, owner)) continue;
    leaving.emplace_back(file.shared, owner);
  }
  return leaving;
}

}  // namespace nfsrdma::cache
