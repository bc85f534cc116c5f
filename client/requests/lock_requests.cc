#include "client/requests/lock_requests.h"

#include "client/compound/result_sizes.h"
#include "client/mount.h"
#include "client/proto/ops_lock.h"
#include "client/proto/ops_namespace.h"
#include "client/requests/steps.h"
#include "client/session/session.h"

namespace nfsrdma::client {
namespace {

using namespace nfs4;
using LockRef = FileLocks::LockRef;

/// Bytes of arguments before the stateid.
constexpr std::size_t kBeforeLocker = 6 * xdr::kUnit;  // locktype, reclaim, offset, length
constexpr std::size_t kBeforeLockStateid = kBeforeLocker + xdr::kUnit;
constexpr std::size_t kBeforeOpenStateid = kBeforeLocker + 2 * xdr::kUnit;  // open_seqid
constexpr std::size_t kBeforeLockuStateid = 2 * xdr::kUnit;                 // locktype, seqid

nfs_lock_type4 lock_type(bool exclusive, bool will_wait) {
  if (exclusive) return will_wait ? WRITEW_LT : WRITE_LT;
  return will_wait ? READW_LT : READ_LT;
}

bool is_exclusive(nfs_lock_type4 type) { return type == WRITE_LT || type == WRITEW_LT; }

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

void add_lock(const Mount& mount, Compound& compound, const OpenFileRef& file, const LockRef& lock,
              const LockWish& wish, bool reclaim) {
  const LockOwnerText text(wish.owner);
  LOCK4args args;
  args.locktype = lock_type(wish.exclusive, wish.will_wait);
  args.reclaim = reclaim;
  args.offset = wish.range.first;
  args.length = wish.range.wire_length();
  args.locker.new_lock_owner = !lock->established;
  if (lock->established) {
    compound.use_state(lock, kBeforeLockStateid);
  } else {
    args.locker.open_owner.lock_owner = {mount.clientid(), text.bytes()};
    compound.use_state(server_open(file), kBeforeOpenStateid);
  }
  compound.add_modifying(args, result_size::kLock);
}

Result<void> take_lock(CompoundReader& results, LockState& lock) {
  TRY(steps::pass<PUTFH4res>(results));
  LOCK4res result;
  TRY(results.read(result));
  TRY(results.finish());
  lock.given = result.resok4.lock_stateid;
  lock.established = true;
  return {};
}

Task<Result<void>> send_lock(Mount& mount, OpenFileRef file, LockRef lock, LockWish wish,
                             Duration patience) {
  CompoundRef compound = co_await mount.session().compound(file->caller());
  if (!compound) co_return fail(steps::ending());
  steps::add_handle(*compound, file->handle());
  add_lock(mount, *compound, file, lock, wish, /*reclaim=*/false);
  auto answered = co_await mount.session().execute(*compound, patience);
  CO_TRY(answered);
  co_return take_lock(compound->results(), *lock);
}

Task<Result<void>> send_unlock(Mount& mount, OpenFileRef file, LockRef lock, ByteRange range) {
  CompoundRef compound = co_await mount.session().compound(file->caller());
  if (!compound) co_return fail(steps::ending());
  steps::add_handle(*compound, file->handle());
  LOCKU4args args;
  args.locktype = WRITE_LT;  // of no meaning to the server
  args.offset = range.first;
  args.length = range.wire_length();
  compound->use_state(lock, kBeforeLockuStateid);
  compound->add_modifying(args, result_size::kStateid);
  auto answered = co_await mount.session().execute(*compound);
  CO_TRY(answered);
  auto passed = steps::pass<PUTFH4res>(compound->results());
  CO_TRY(passed);
  LOCKU4res result;
  auto read = compound->results().read(result);
  CO_TRY(read);
  lock->given = result.lock_stateid;
  co_return Result<void>{};
}

Task<Result<void>> send_free(Mount& mount, OpenFileRef file, LockRef lock) {
  CompoundRef compound = co_await mount.session().compound(file->caller());
  if (!compound) co_return fail(steps::ending());
  compound->add_modifying(FREE_STATEID4args{lock->stateid()}, result_size::kNothing);
  auto answered = co_await mount.session().execute(*compound);
  co_return answered;
}

Task<Result<std::optional<LockConflict>>> send_test(Mount& mount, OpenFileRef file, LockWish wish) {
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
