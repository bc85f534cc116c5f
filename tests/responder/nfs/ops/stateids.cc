// TEST_STATEID and FREE_STATEID: RFC 8881 sections 18.48 and 18.38.
#include "tests/responder/nfs/ops/ops.h"

namespace nfsrdma::responder {

using namespace nfs4;

nfsstat4 op_test_stateid(CompoundContext& context, const TEST_STATEID4args& args,
                         TEST_STATEID4res& result) {
  for (const stateid4& stateid : args.ts_stateids) {
    nfsstat4 status = NFS4ERR_BAD_STATEID;
    if (!is_special(stateid)) {
      const auto state = context.states().find(*context.client, stateid);
      status = state ? NFS4_OK : state.error();
    }
    result.tsr_resok4.tsr_status_codes.push_back(status);
  }
  return NFS4_OK;
}

// Frees a lock-owner's state without locks, or a revoked state. Opens are ended by
// CLOSE.
nfsstat4 op_free_stateid(CompoundContext& context, const FREE_STATEID4args& args,
                         FREE_STATEID4res&) {
  const stateid4 stateid = context.effective(args.fsa_stateid);
  if (is_special(stateid)) return NFS4ERR_BAD_STATEID;
  const auto delegation = context.states().find_delegation(*context.client, stateid);
  if (delegation) {
    if (!(*delegation)->revoked) return NFS4ERR_LOCKS_HELD;
    context.server.clients->delegations.remove(**delegation);
    return NFS4_OK;
  }
  if (LockState* revoked = context.states().find_revoked_lock(*context.client, stateid)) {
    context.states().remove_lock(*revoked);
    return NFS4_OK;
  }
  const auto state = context.states().find(*context.client, stateid);
  if (!state) return state.error();
  if ((*state)->kind() != StateKind::lock) return NFS4ERR_LOCKS_HELD;
  LockState& lock = static_cast<LockState&>(**state);
  if (context.states().locks_on(*lock.file)->holds_any(&lock)) return NFS4ERR_LOCKS_HELD;
  context.states().remove_lock(lock);
  return NFS4_OK;
}

}  // namespace nfsrdma::responder
