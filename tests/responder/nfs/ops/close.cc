// CLOSE and OPEN_DOWNGRADE: RFC 8881 sections 18.2 and 18.18.
#include <algorithm>

#include "tests/responder/nfs/ops/ops.h"

namespace nfsrdma::responder {

using namespace nfs4;

namespace {

Outcome<OpenState*> open_of_current(CompoundContext& context, const stateid4& stateid) {
  const stateid4 effective = context.effective(stateid);
  if (is_special(effective)) return refuse(NFS4ERR_BAD_STATEID);
  const auto open = context.states().find_open(*context.client, effective);
  if (open && (*open)->file != context.current) return refuse(NFS4ERR_BAD_STATEID);
  return open;
}

}  // namespace

// Byte-range locks that are left go with the open.
nfsstat4 op_close(CompoundContext& context, const CLOSE4args& args, CLOSE4res& result) {
  const auto open = open_of_current(context, args.open_stateid);
  if (!open) return open.error();
  context.states().remove_open(**open);
  result.open_stateid = kInvalidStateid;
  context.current_stateid = kInvalidStateid;
  return NFS4_OK;
}

nfsstat4 op_open_downgrade(CompoundContext& context, const OPEN_DOWNGRADE4args& args,
                           OPEN_DOWNGRADE4res& result) {
  const auto found = open_of_current(context, args.open_stateid);
  if (!found) return found.error();
  OpenState& open = **found;
  const Share wanted{args.share_access & OPEN4_SHARE_ACCESS_BOTH, args.share_deny};
  const bool was_opened_so = std::ranges::any_of(open.opened, [&](const Share& share) {
    return (share.access & ~wanted.access) == 0 && (share.deny & ~wanted.deny) == 0;
  });
  const bool within = (wanted.access & ~open.share.access) == 0 &&
                      (wanted.deny & ~open.share.deny) == 0 && wanted.access != 0;
  if (!was_opened_so || !within) return NFS4ERR_INVAL;
  open.share = wanted;
  std::erase_if(open.opened, [&](const Share& share) {
    return (share.access & ~wanted.access) != 0 || (share.deny & ~wanted.deny) != 0;
  });
  ++open.seqid;
  result.resok4.open_stateid = context.states().stateid_of(open);
  context.set_current_stateid(open);
  return NFS4_OK;
}

}  // namespace nfsrdma::responder
