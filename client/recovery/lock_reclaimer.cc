#include "client/recovery/lock_reclaimer.h"

#include <utility>
#include <vector>

#include "client/files/lock.h"
#include "client/recovery/claim_errors.h"
#include "client/requests/steps.h"

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
      files_.open_table.lose_locks(*lock, reclaimed.error().message());
      lost = true;
      break;
    }
    if (!ranges.empty() && !lost) lock->at_server = true;
  }
  co_return Result<void>{};
}

Task<Result<void>> LockReclaimer::reclaim_one(rpc::Channel& channel, OpenFileRef file, LockRef lock,
                                              LockedRange range) {
  const TimePoint begun = files_.context.reactor.now();
  Backoff backoff;
  for (;;) {
    auto asked = co_await ask(channel, file, lock, range);
    if (asked || !asks_for_patience(asked.error())) co_return asked;
    if (files_.context.reactor.now() - begun >= files_.context.lease_time()) co_return asked;
    const bool slept = co_await files_.context.session.pauses().pause(backoff.next());
    if (!slept) co_return fail(steps::ending());
  }
}

Task<Result<void>> LockReclaimer::ask(rpc::Channel& channel, OpenFileRef file, LockRef lock,
                                      LockedRange range) {
  WantedLock wanted;
  wanted.owner = lock->owner;
  wanted.range = range.range;
  wanted.exclusive = range.exclusive;
  LockRequest request = request_for(file, lock, wanted);
  request.reclaim = true;
  Sending sending;
  sending.channel = &channel;
  sending.reserved = true;
  auto granted =
      co_await send_lock(files_.context, lock->caller, file->handle(), std::move(request), sending);
  CO_TRY(granted);
  lock->granted(*granted);
  co_return Result<void>{};
}

}  // namespace nfsrdma::client
