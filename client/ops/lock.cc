#include "client/ops/lock.h"

#include <utility>

#include "client/compound/result_sizes.h"
#include "client/mount.h"
#include "client/ops/steps.h"
#include "client/proto/ops_lock.h"
#include "client/proto/ops_namespace.h"
#include "client/session/session.h"
#include "client/state/lock_waiters.h"
#include "client/state/open_table.h"

namespace nfsrdma::client {
namespace {

using namespace nfs4;
using LockRef = FileLocks::LockRef;

nfs_lock_type4 lock_type(bool exclusive, bool will_wait) {
  if (exclusive) return will_wait ? WRITEW_LT : WRITE_LT;
  return will_wait ? READW_LT : READ_LT;
}

bool is_exclusive(nfs_lock_type4 type) { return type == WRITE_LT || type == WRITEW_LT; }

/// Seqid zero names the newest state (RFC 8881 section 8.2.2).
stateid4 newest(stateid4 stateid) {
  stateid.seqid = 0;
  return stateid;
}

bool is_refusal(const Error& error) {
  if (error.layer != Layer::nfs) return false;
  const auto status = static_cast<nfsstat4>(error.code);
  return status == NFS4ERR_BAD_STATEID || status == NFS4ERR_STALE_STATEID ||
         status == NFS4ERR_OLD_STATEID || status == NFS4ERR_EXPIRED;
}

stateid4 stateid_in_use(const OpenFile& file, const LockState& state) {
  return state.established ? state.stateid : file.open_stateid();
}

/// After a refusal: whether the stateid that was sent has been recovered meanwhile, or is being.
Task<bool> worth_another(Mount& mount, OpenFileRef file, LockRef state, stateid4 sent,
                         const Error& error) {
  if (!is_refusal(error)) co_return false;
  while (file->recovering()) {
    const bool slept = co_await mount.session().pauses().pause(Backoff::kFirst);
    if (!slept) co_return false;
  }
  co_return !file->lost() && stateid_in_use(*file, *state) != sent;
}

Task<Result<void>> send_lock(Mount& mount, OpenFileRef file, LockRef state, LockWish wish) {
  CompoundRef compound = co_await mount.session().compound(file->caller());
  if (!compound) co_return fail(steps::ending());
  steps::add_handle(*compound, file->handle());
  add_lock(mount, *compound, *file, *state, wish, /*reclaim=*/false);
  auto answered = co_await mount.session().execute(*compound);
  CO_TRY(answered);
  auto taken = take_lock(compound->results(), *state);
  CO_TRY(taken);
  state->pid = wish.pid;
  state->ranges.set(wish.range, wish.exclusive);
  co_return Result<void>{};
}

/// With `last`, the lock-owner's stateid is given up, too.
Task<Result<void>> send_unlock(Mount& mount, OpenFileRef file, LockRef state, ByteRange range,
                               bool last) {
  CompoundRef compound = co_await mount.session().compound(file->caller());
  if (!compound) co_return fail(steps::ending());
  steps::add_handle(*compound, file->handle());
  LOCKU4args args;
  args.locktype = WRITE_LT;  // of no meaning to the server
  args.lock_stateid = newest(state->stateid);
  args.offset = range.first;
  args.length = range.wire_length();
  compound->add_modifying(args, result_size::kStateid);
  if (last) compound->add(FREE_STATEID4args{newest(state->stateid)}, result_size::kNothing);
  auto answered = co_await mount.session().execute(*compound);
  CO_TRY(answered);
  auto passed = steps::pass<PUTFH4res>(compound->results());
  CO_TRY(passed);
  LOCKU4res result;
  auto read = compound->results().read(result);
  CO_TRY(read);
  state->stateid = result.lock_stateid;
  state->ranges.clear(range);
  co_return Result<void>{};
}

/// Everything the owner has, and his stateid. That FREE_STATEID fails does no harm: the server
/// forgets with CLOSE.
Task<Result<void>> send_goodbye(Mount& mount, OpenFileRef file, LockRef state) {
  if (!state->ranges.empty()) {
    auto unlocked = co_await send_unlock(mount, file, state, ByteRange::whole_file(), true);
    co_return unlocked;
  }
  CompoundRef compound = co_await mount.session().compound(file->caller());
  if (!compound) co_return fail(steps::ending());
  compound->add(FREE_STATEID4args{newest(state->stateid)}, result_size::kNothing);
  auto answered = co_await mount.session().execute(*compound);
  co_return answered;
}

Error lost_locks() {
  return Error{Layer::nfs, NFS4ERR_EXPIRED, "LOCK",
               "the server has forgotten that the file is open"};
}

LockConflict describe(const OpenFile& file, const LOCK4denied& denied) {
  LockConflict conflict;
  const bool to_end = denied.length == kToEndOfFile || denied.length == 0 ||
                      denied.length - 1 > ByteRange::kEnd - denied.offset;
  conflict.range.first = denied.offset;
  conflict.range.last = to_end ? ByteRange::kEnd : denied.offset + (denied.length - 1);
  conflict.exclusive = is_exclusive(denied.locktype);
  if (const LockRef ours = file.locks().find(denied.owner.owner)) conflict.pid = ours->pid;
  return conflict;
}

}  // namespace

void add_lock(const Mount& mount, Compound& compound, const OpenFile& file, const LockState& state,
              const LockWish& wish, bool reclaim) {
  const LockOwnerText text(wish.owner);
  LOCK4args args;
  args.locktype = lock_type(wish.exclusive, wish.will_wait);
  args.reclaim = reclaim;
  args.offset = wish.range.first;
  args.length = wish.range.wire_length();
  args.locker.new_lock_owner = !state.established;
  if (state.established) {
    args.locker.lock_owner.lock_stateid = newest(state.stateid);
  } else {
    args.locker.open_owner.open_stateid = file.open_stateid();
    args.locker.open_owner.lock_owner = {mount.clientid(), text.bytes()};
  }
  compound.add_modifying(args, result_size::kLock);
}

Result<void> take_lock(CompoundReader& results, LockState& state) {
  TRY(steps::pass<PUTFH4res>(results));
  LOCK4res result;
  TRY(results.read(result));
  TRY(results.finish());
  state.stateid = result.resok4.lock_stateid;
  state.established = true;
  return {};
}

Task<Result<void>> lock(Mount& mount, OpenFileRef file, LockWish wish) {
  const LockRef state = file->locks().obtain(wish.owner);
  auto guard = co_await state->changing.lock();
  for (;;) {
    if (file->lost()) co_return fail(lost_locks());
    if (!file->secured()) {
      auto secured = co_await mount.opens().secure(file);  // locks stand on the server's open
      CO_TRY(secured);
    }
    const stateid4 used = stateid_in_use(*file, *state);
    auto sent = co_await send_lock(mount, file, state, wish);
    if (!sent) {
      const bool again = co_await worth_another(mount, file, state, used, sent.error());
      if (again) continue;
    }
    file->locks().forget_if_unused(state);
    co_return sent;
  }
}

Task<Result<void>> unlock(Mount& mount, OpenFileRef file, LockOwner owner, ByteRange range) {
  const LockRef state = file->locks().find(owner);
  if (!state) co_return Result<void>{};
  auto guard = co_await state->changing.lock();
  for (;;) {
    if (!state->ranges.overlaps(range)) co_return Result<void>{};
    if (file->lost()) co_return fail(lost_locks());
    const stateid4 used = state->stateid;
    auto sent = co_await send_unlock(mount, file, state, range, false);
    if (!sent) {
      const bool again = co_await worth_another(mount, file, state, used, sent.error());
      if (again) continue;
    }
    if (sent) mount.lock_waiters().notify(file->handle());
    co_return sent;
  }
}

Task<Result<void>> unlock_all(Mount& mount, OpenFileRef file, LockOwner owner) {
  const LockRef state = file->locks().find(owner);
  if (!state) co_return Result<void>{};
  auto guard = co_await state->changing.lock();
  Result<void> outcome;
  // A recovery may have got the locks back with other stateids meanwhile: those are given up, then.
  bool again = true;
  while (again && !file->lost() && state->established) {
    const stateid4 used = state->stateid;
    auto sent = co_await send_goodbye(mount, file, state);
    again = false;
    if (!sent) {
      const bool worth = co_await worth_another(mount, file, state, used, sent.error());
      again = worth;
    }
    // Unknown to the server, and not got back: an earlier execution has freed it (done_before.h).
    const bool unknown = !sent && sent.error().is(Layer::nfs, NFS4ERR_BAD_STATEID);
    if (unknown && !again && !file->lost()) sent = {};
    outcome = std::move(sent);
  }
  state->established = false;
  state->ranges = {};
  file->locks().forget_if_unused(state);
  mount.lock_waiters().notify(file->handle());
  co_return outcome;
}

Task<Result<std::optional<LockConflict>>> test_lock(Mount& mount, OpenFileRef file, LockWish wish) {
  CompoundRef compound = co_await mount.session().compound(file->caller());
  if (!compound) co_return fail(steps::ending());
  const LockOwnerText text(wish.owner);
  steps::add_handle(*compound, file->handle());
  LOCKT4args args;
  args.locktype = lock_type(wish.exclusive, false);
  args.offset = wish.range.first;
  args.length = wish.range.wire_length();
  args.owner = {mount.clientid(), text.bytes()};
  compound->add(args, result_size::kLock);
  auto answered = co_await mount.session().execute(*compound);
  CO_TRY(answered);
  auto passed = steps::pass<PUTFH4res>(compound->results());
  CO_TRY(passed);
  LOCKT4res result;
  auto read = compound->results().read(result);
  std::optional<LockConflict> conflict;
  if (!read) {
    if (!read.error().is(Layer::nfs, NFS4ERR_DENIED)) co_return fail_from(read);
    conflict = describe(*file, result.denied);
  }
  co_return conflict;
}

}  // namespace nfsrdma::client
