#include "client/requests/lock.h"

#include <utility>

#include "client/proto/ops_lock.h"
#include "client/requests/steps.h"
#include "client/session/request_context.h"

namespace nfsrdma::client {
namespace {

using namespace nfs4;

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

LockDenied describe(const LOCK4denied& denied) {
  LockDenied conflict;
  const bool to_end = denied.length == kToEndOfFile || denied.length == 0 ||
                      denied.length - 1 > ByteRange::kEnd - denied.offset;
  conflict.range.first = denied.offset;
  conflict.range.last = to_end ? ByteRange::kEnd : denied.offset + (denied.length - 1);
  conflict.exclusive = is_exclusive(denied.locktype);
  conflict.owner = LockOwnerText::owner_of(denied.owner.owner);
  return conflict;
}

void add_lock(Compound& compound, clientid4 clientid, LockRequest& request) {
  const LockOwnerText text(request.owner);
  LOCK4args args;
  args.locktype = lock_type(request.exclusive, request.will_wait);
  args.reclaim = request.reclaim;
  args.offset = request.range.first;
  args.length = request.range.wire_length();
  args.locker.new_lock_owner = request.new_owner;
  if (request.new_owner) args.locker.open_owner.lock_owner = {clientid, text.bytes()};
  compound.use_state(std::move(request.state),
                     request.new_owner ? kBeforeOpenStateid : kBeforeLockStateid);
  compound.add(args);
}

Result<std::optional<LockDenied>> read_test(CompoundReader& results) {
  TRY(steps::pass<PUTFH4res>(results));
  LOCKT4res result;
  auto read = results.read(result);
  std::optional<LockDenied> conflict;
  if (!read) {
    if (!read.error().is(Layer::nfs, NFS4ERR_DENIED)) return fail_from(read);
    conflict = describe(result.denied);
  }
  return conflict;
}

}  // namespace

Task<Result<stateid4>> send_lock(RequestContext& context, Credential caller, FileHandle file,
                                 LockRequest request, Sending sending) {
  CompoundRef compound = co_await begin(context, caller, sending);
  if (!compound) co_return fail(no_request(sending));
  steps::add_handle(*compound, file);
  add_lock(*compound, context.client.clientid(), request);
  auto answered = co_await execute(context, *compound, sending);
  CO_TRY(answered);
  auto locked = steps::read_only<LOCK4res>(compound->results());
  CO_TRY(locked);
  co_return locked->resok4.lock_stateid;
}

Task<Result<std::optional<LockDenied>>> lockt(RequestContext& context, Credential caller,
                                              FileHandle file, LockOwner owner, ByteRange range,
                                              bool exclusive) {
  CompoundRef compound = co_await context.session.compound(caller);
  if (!compound) co_return fail(steps::ending());
  const LockOwnerText text(owner);
  steps::add_handle(*compound, file);
  LOCKT4args args;
  args.locktype = lock_type(exclusive, false);
  args.offset = range.first;
  args.length = range.wire_length();
  args.owner = {context.client.clientid(), text.bytes()};
  compound->add(args);
  auto answered = co_await context.session.execute(*compound);
  CO_TRY(answered);
  co_return read_test(compound->results());
}

namespace {

/// `state` gives the stateid when it is sent; without it that is `lock`.
Task<Result<stateid4>> send_locku(RequestContext& context, Credential caller, FileHandle file,
                                  StateRef state, stateid4 lock, ByteRange range,
                                  Patience patience) {
  CompoundRef compound = co_await context.session.compound(caller);
  if (!compound) co_return fail(steps::ending());
  steps::add_handle(*compound, file);
  LOCKU4args args;
  args.locktype = WRITE_LT;  // of no meaning to the server
  args.lock_stateid = lock;
  args.offset = range.first;
  args.length = range.wire_length();
  if (state) compound->use_state(std::move(state), kBeforeLockuStateid);
  compound->add(args);
  auto answered = co_await context.session.execute(*compound, patience);
  CO_TRY(answered);
  auto unlocked = steps::read_only<LOCKU4res>(compound->results());
  CO_TRY(unlocked);
  co_return unlocked->lock_stateid;
}

}  // namespace

Task<Result<stateid4>> locku(RequestContext& context, Credential caller, FileHandle file,
                             StateRef lock, ByteRange range) {
  return send_locku(context, caller, file, std::move(lock), {}, range, Patience());
}

Task<Result<stateid4>> locku(RequestContext& context, Credential caller, FileHandle file,
                             stateid4 lock, ByteRange range) {
  return send_locku(context, caller, file, nullptr, lock, range, Duration::zero());
}

}  // namespace nfsrdma::client
