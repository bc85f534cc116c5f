#include "client/files/local_lock.h"

#include <vector>

#include "client/files/files.h"
#include "client/requests/steps.h"

namespace nfsrdma::client {
namespace {

using namespace nfs4;
using LockRef = FileLocks::LockRef;

/// Where the locks of a file are kept.
struct Places {
  bool here = false;
  bool at_server = false;
};

Places places_of(Files& files, const FileHandle& file) {
  Places places;
  files.open_table.for_each_of(file, [&](const OpenFile& open) {
    places.here = places.here || open.locks().any_local();
    places.at_server = places.at_server || open.locks().any_at_server();
  });
  return places;
}

std::uint32_t access_for(const WantedLock& wanted) {
  return wanted.exclusive ? OPEN4_SHARE_ACCESS_WRITE : OPEN4_SHARE_ACCESS_READ;
}

Error refusal(nfsstat4 status, const char* why) {
  return Error{Layer::nfs, static_cast<int>(status), "LOCK", why};
}

}  // namespace

LockKeeper lock_keeper(Files& files, const FileHandle& file) {
  const Places places = places_of(files, file);
  const DelegationRef delegation = files.delegation_table.held(file);
  if (delegation && delegation->writes() && !places.at_server) return LockKeeper::client;
  return places.here ? LockKeeper::changing : LockKeeper::server;
}

Task<Result<void>> decide_lock_keeper(Files& files, FileHandle file) {
  for (;;) {
    const LockKeeper keeper = lock_keeper(files, file);
    const bool certain = keeper == LockKeeper::client && files.context.session.lease_holds();
    if (certain || keeper == LockKeeper::server) break;
    if (keeper == LockKeeper::changing && files.delegation_table.known(file)) {
      co_await files.delegations.give_back(file);
      continue;
    }
    const bool slept = co_await files.context.session.pauses().pause(Backoff::kFirst);
    if (!slept) co_return fail(steps::ending());
  }
  co_return Result<void>{};
}

Result<void> lock_locally(Files& files, const OpenFileRef& file, const WantedLock& wanted) {
  if ((file->share_access() & access_for(wanted)) == 0) {
    return fail(refusal(NFS4ERR_OPENMODE, "the file is not open for that"));
  }
  if (local_conflict(files, file->handle(), wanted)) {
    return fail(refusal(NFS4ERR_DENIED, "locked by another process"));
  }
  // The owner may also have locked through another user's open; the last request decides.
  files.open_table.for_each_of(file->handle(), [&](OpenFile& open) {
    if (const LockRef same = open.locks().find(wanted.owner)) same->ranges.clear(wanted.range);
  });
  OpenTable::attach(*file, files.delegation_table.held(file->handle()));
  files.delegation_table.count_local_lock();
  return {};
}

std::optional<LockConflict> local_conflict(Files& files, const FileHandle& file,
                                           const WantedLock& wanted) {
  std::optional<LockConflict> conflict;
  files.open_table.for_each_of(file, [&](const OpenFile& open) {
    for (const LockRef& lock : open.locks().all()) {
      if (conflict || lock->owner == wanted.owner) continue;
      const LockedRange* held = lock->ranges.conflicting(wanted.range, wanted.exclusive);
      if (held) conflict = LockConflict{held->range, held->exclusive, lock->pid};
    }
  });
  return conflict;
}

namespace {

/// Every range of one owner, one after the other. Asks again for locks that the server granted
/// before it restarted in between.
Task<Result<void>> establish(Files& files, OpenFileRef file, LockRef lock) {
  auto guard = co_await lock->changing.lock();
  std::size_t done = 0;
  while (!lock->at_server && done < lock->ranges.all().size()) {
    const LockedRange next = lock->ranges.all()[done];
    const WantedLock wanted{lock->owner, lock->pid, next.range, next.exclusive};
    const stateid4 before = lock->given;
    auto granted = co_await lock_at_server(files, file, lock, wanted, files.context.lease_time());
    if (lock->at_server) break;  // a restart in between: reclaimed, whatever this one was answered
    CO_TRY(granted);
    // Lost while the server was asked: with the delegation, for one.
    if (!lock->ranges.overlaps(next.range)) co_return fail(refusal(NFS4ERR_EXPIRED, "it is lost"));
    const bool anew = done > 0 && lock->given.other != before.other;
    done = anew ? 0 : done + 1;
  }
  lock->at_server = true;
  co_return Result<void>{};
}

}  // namespace

Task<void> establish_locks(Files& files, OpenFileRef file) {
  const auto all = file->locks().all();
  const std::vector<LockRef> locks(all.begin(), all.end());
  for (const LockRef& lock : locks) {
    if (lock->at_server || lock->ranges.empty()) continue;
    auto established = co_await establish(files, file, lock);
    if (established || file->lost()) continue;
    if (lock->established) {  // by some of its ranges
      auto undone = co_await unlock_at_server(files, file, lock, ByteRange::whole_file());
      (void)undone;
    }
    files.open_table.lose_locks(
        *lock, "not granted when the delegation was returned: " + established.error().message());
  }
}

}  // namespace nfsrdma::client
