// RFC 8881 section 18.50.
#include "tests/responder/nfs/ops/ops.h"

namespace nfsrdma::responder {

using namespace nfs4;

nfsstat4 op_destroy_clientid(CompoundContext& context, const DESTROY_CLIENTID4args& args,
                             DESTROY_CLIENTID4res&) {
  ClientState& clients = *context.server.clients;
  Client* client = clients.clients.find(args.dca_clientid);
  if (!client) return NFS4ERR_STALE_CLIENTID;
  if (clients.sessions.has_any(*client) || clients.states.has_any(*client)) {
    return NFS4ERR_CLIENTID_BUSY;
  }
  clients.clients.destroy(*client);
  return NFS4_OK;
}

}  // namespace nfsrdma::responder
