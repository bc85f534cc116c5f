#include "client/recovery/lock_reclaimer.h"

#include <cerrno>
#include <vector>

#include "client/mount.h"
#include "client/proto/ops_lock.h"
#include "client/proto/ops_namespace.h"
#include "client/recovery/claim_errors.h"
#include "client/requests/lock_requests.h"
#include "client/requests/steps.h"
#include "client/session/session.h"
#include "client/state/open_table.h"

namespace nfsrdma::client {

Task<Result<void>> LockReclaimer::reclaim(rpc::Channel& channel, OpenFileRef file) {
  const auto held = file->locks().all();
  const std::vector<LockRef> locks(held.begin(), held.end());
  file->locks().forget_stateids();
  for (const LockRef& lock : locks) {
    if (!lock->at_server && file->delegated_for_writing()) continue;
    const std::vector<LockedRange> ranges(lock->ranges.all().begin(), lock->ranges.all().end());
    lock->refused = nfs4::NFS4_OK;
    bool lost = false;
    for (const LockedRange& range : ranges) {
      auto reclaimed = co_await reclaim_one(channel, file, lock, range);
      if (reclaimed) continue;
      if (is_cut_off(reclaimed.error())) co_return reclaimed;
      mount_.opens().lose_locks(*lock, reclaimed.error().message());
      lost = true;
      break;
    }
    if (!ranges.empty() && !lost) lock->at_server = true;
  }
  co_return Result<void>{};
}

Task<Result<void>> LockReclaimer::reclaim_one(rpc::Channel& channel, OpenFileRef file, LockRef lock,
                                              LockedRange range) {
  const TimePoint begun = mount_.reactor().now();
  Backoff backoff;
  for (;;) {
    auto asked = co_await ask(channel, file, lock, range);
    if (asked || !asks_for_patience(asked.error())) co_return asked;
    if (mount_.reactor().now() - begun >= mount_.lease_time()) co_return asked;
    const bool slept = co_await mount_.session().pauses().pause(backoff.next());
    if (!slept) co_return fail(steps::ending());
  }
}

Task<Result<void>> LockReclaimer::ask(rpc::Channel& channel, OpenFileRef file, LockRef lock,
                                      LockedRange range) {
  CompoundRef compound = compounds_.begin_reserved(file->caller());
  if (!compound) co_return fail(Error::local(ENOMEM, "LOCK", "no message slot is free"));
  steps::add_handle(*compound, file->handle());
  LockWish wish;
  wish.owner = lock->owner;
  wish.pid = lock->pid;
  wish.range = range.range;
  wish.exclusive = range.exclusive;
  add_lock(mount_, *compound, file, lock, wish, /*reclaim=*/true);
  auto answered = co_await mount_.session().execute_on(channel, *compound);
  CO_TRY(answered);
  auto taken = take_lock(compound->results(), *lock);
  co_return taken;
}

}  // namespace nfsrdma::client
