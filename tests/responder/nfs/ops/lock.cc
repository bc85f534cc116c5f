// LOCK, LOCKT and LOCKU: RFC 8881 sections 18.10 to 18.12.
#include "client/proto/ops_open.h"
#include "tests/responder/nfs/ops/io_target.h"
#include "tests/responder/nfs/ops/lock_arguments.h"
#include "tests/responder/nfs/ops/ops.h"

namespace nfsrdma::responder {

using namespace nfs4;

namespace {

nfsstat4 check_lock_grace(const CompoundContext& context, bool reclaim) {
  const bool in_grace = context.server.in_grace();
  if (!reclaim) return in_grace ? NFS4ERR_GRACE : NFS4_OK;
  return in_grace && !context.client->reclaim_complete ? NFS4_OK : NFS4ERR_NO_GRACE;
}

/// The open to lock through, and the lock-owner's state if it has one on this file.
struct Locker {
  OpenState* open = nullptr;
  LockState* lock = nullptr;
};

Outcome<Locker> find_locker(CompoundContext& context, const locker4& locker) {
  Locker found;
  const bool first = locker.new_lock_owner;
  const stateid4& named = first ? locker.open_owner.open_stateid : locker.lock_owner.lock_stateid;
  const stateid4 stateid = context.effective(named);
  if (is_special(stateid)) return refuse(NFS4ERR_BAD_STATEID);
  if (first) {
    const auto open = context.states().find_open(*context.client, stateid);
    if (!open) return refuse(open.error());
    found.open = *open;
    const std::string_view owner = owner_text(locker.open_owner.lock_owner);
    found.lock = context.states().lock_of(*context.client, owner, *found.open->file);
  } else {
    const auto lock = context.states().find_lock(*context.client, stateid);
    if (!lock) return refuse(lock.error());
    found.lock = *lock;
    found.open = &found.lock->open();
  }
  if (found.open->file != context.current) return refuse(NFS4ERR_BAD_STATEID);
  return found;
}

bool open_allows(const OpenState& open, bool exclusive) {
  const std::uint32_t needed = exclusive ? OPEN4_SHARE_ACCESS_WRITE : OPEN4_SHARE_ACCESS_READ;
  return (open.share.access & needed) != 0;
}

LockOwnerKey owner_key(const CompoundContext& context, const LOCK4args& args,
                       const Locker& locker) {
  const std::string_view name =
      locker.lock ? locker.lock->owner : owner_text(args.locker.open_owner.lock_owner);
  return {context.client->id, std::string(name)};
}

/// The answer to a conflict.
nfsstat4 answer_conflict(CompoundContext& context, const LOCK4args& args, const LockOwnerKey& owner,
                         const ByteRange& range, const LockedRange& held, LOCK4res& result) {
  const bool waits = args.locktype == READW_LT || args.locktype == WRITEW_LT;
  LockWaits& waiting = context.server.clients->lock_waits;
  if (waits && waiting.closes_a_circle(owner, context.current, range, is_exclusive(args.locktype),
                                       context.server.reactor.now())) {
    return NFS4ERR_DEADLOCK;
  }
  result.denied = describe_conflict(held);
  return NFS4ERR_DENIED;
}

}  // namespace

nfsstat4 op_lock(CompoundContext& context, const LOCK4args& args, LOCK4res& result) {
  const nfsstat4 wrong = not_a_regular_file(*context.current);
  if (wrong != NFS4_OK) return wrong;
  const auto range = byte_range(args.offset, args.length);
  if (!range) return range.error();
  const auto locker = find_locker(context, args.locker);
  if (!locker) return locker.error();
  const nfsstat4 status = check_lock_grace(context, args.reclaim);
  if (status != NFS4_OK) return status;
  const bool exclusive = is_exclusive(args.locktype);
  if (!open_allows(*locker->open, exclusive)) return NFS4ERR_OPENMODE;
  LockRanges& locks = *context.states().locks_on(*context.current);
  const LockOwnerKey owner = owner_key(context, args, *locker);
  if (const LockedRange* held = locks.conflict(*range, exclusive, locker->lock)) {
    return answer_conflict(context, args, owner, *range, *held, result);
  }
  context.server.clients->lock_waits.ended(owner);
  LockState* lock = locker->lock;
  if (lock) {
    ++lock->seqid;
  } else {
    lock = &context.states().add_lock(*locker->open, owner.name);
  }
  locks.lock(*range, exclusive, lock);
  result.resok4.lock_stateid = context.states().stateid_of(*lock);
  context.set_current_stateid(*lock);
  return NFS4_OK;
}

nfsstat4 op_lockt(CompoundContext& context, const LOCKT4args& args, LOCKT4res& result) {
  const nfsstat4 wrong = not_a_regular_file(*context.current);
  if (wrong != NFS4_OK) return wrong;
  const auto range = byte_range(args.offset, args.length);
  if (!range) return range.error();
  if (context.server.in_grace()) return NFS4ERR_GRACE;
  const LockRanges* locks = context.states().locks_on(*context.current);
  if (!locks) return NFS4_OK;
  const LockState* own =
      context.states().lock_of(*context.client, owner_text(args.owner), *context.current);
  const LockedRange* held = locks->conflict(*range, is_exclusive(args.locktype), own);
  if (!held) return NFS4_OK;
  result.denied = describe_conflict(*held);
  return NFS4ERR_DENIED;
}

nfsstat4 op_locku(CompoundContext& context, const LOCKU4args& args, LOCKU4res& result) {
  const auto range = byte_range(args.offset, args.length);
  if (!range) return range.error();
  const stateid4 stateid = context.effective(args.lock_stateid);
  if (is_special(stateid)) return NFS4ERR_BAD_STATEID;
  const auto lock = context.states().find_lock(*context.client, stateid);
  if (!lock) return lock.error();
  if ((*lock)->file != context.current) return NFS4ERR_BAD_STATEID;
  context.states().locks_on(*context.current)->unlock(*range, *lock);
  context.server.clients->lock_waits.ended({context.client->id, (*lock)->owner});
  ++(*lock)->seqid;
  result.lock_stateid = context.states().stateid_of(**lock);
  context.set_current_stateid(**lock);
  return NFS4_OK;
}

}  // namespace nfsrdma::responder
