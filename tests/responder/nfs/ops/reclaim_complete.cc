// RFC 8881 section 18.51.
#include "tests/responder/nfs/ops/ops.h"

namespace nfsrdma::responder {

using namespace nfs4;

nfsstat4 op_reclaim_complete(CompoundContext& context, const RECLAIM_COMPLETE4args& args,
                             RECLAIM_COMPLETE4res&) {
  if (args.rca_one_fs) {
    // Nothing migrates to this server.
    return context.current ? NFS4_OK : NFS4ERR_NOFILEHANDLE;
  }
  if (context.client->reclaim_complete) return NFS4ERR_COMPLETE_ALREADY;
  context.client->reclaim_complete = true;
  context.server.instance.reclaimed(context.client->owner);
  return NFS4_OK;
}

}  // namespace nfsrdma::responder
