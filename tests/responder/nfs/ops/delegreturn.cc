// RFC 8881 section 18.6.
#include "tests/responder/nfs/delegations.h"
#include "tests/responder/nfs/ops/ops.h"

namespace nfsrdma::responder {

using namespace nfs4;

nfsstat4 op_delegreturn(CompoundContext& context, const DELEGRETURN4args& args, DELEGRETURN4res&) {
  const stateid4 stateid = context.effective(args.deleg_stateid);
  if (is_special(stateid)) return NFS4ERR_BAD_STATEID;
  const auto delegation = context.states().find_delegation(*context.client, stateid);
  if (!delegation) return delegation.error();
  if ((*delegation)->revoked) return NFS4ERR_DELEG_REVOKED;
  if ((*delegation)->file != context.current) return NFS4ERR_BAD_STATEID;
  context.server.clients->delegations.remove(**delegation);
  return NFS4_OK;
}

}  // namespace nfsrdma::responder
