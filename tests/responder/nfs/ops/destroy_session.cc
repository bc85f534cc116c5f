// RFC 8881 section 18.37.
#include "tests/responder/nfs/ops/ops.h"

namespace nfsrdma::responder {

using namespace nfs4;

nfsstat4 op_destroy_session(CompoundContext& context, const DESTROY_SESSION4args& args,
                            DESTROY_SESSION4res&) {
  SessionTable& sessions = context.server.clients->sessions;
  const SessionRef session = sessions.find(args.dsa_sessionid);
  if (!session) return NFS4ERR_BADSESSION;
  const bool last = context.index + 1 == context.operations;
  if (session == context.session && !last) return NFS4ERR_NOT_ONLY_OP;
  if (session->back.busy) return NFS4ERR_BACK_CHAN_BUSY;
  if (session == context.session) --context.client->requests_open;
  sessions.destroy(args.dsa_sessionid);
  return NFS4_OK;
}

}  // namespace nfsrdma::responder
