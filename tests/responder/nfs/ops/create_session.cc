// RFC 8881 section 18.36.
#include "tests/responder/nfs/ops/ops.h"

namespace nfsrdma::responder {

using namespace nfs4;

namespace {

constexpr std::size_t kMaxSessions = 64;  // of one client
constexpr std::uint32_t kFlags = CREATE_SESSION4_FLAG_PERSIST |
                                 CREATE_SESSION4_FLAG_CONN_BACK_CHAN |
                                 CREATE_SESSION4_FLAG_CONN_RDMA;

nfsstat4 make_session(CompoundContext& context, Client& client, const CREATE_SESSION4args& args,
                      CREATE_SESSION4resok& ok) {
  ClientState& clients = *context.server.clients;
  if (clients.sessions.count_of(client) >= kMaxSessions) return NFS4ERR_NOSPC;
  ok.csr_fore_chan_attrs = args.csa_fore_chan_attrs;
  ok.csr_back_chan_attrs = args.csa_back_chan_attrs;
  const nfsstat4 status =
      clients.sessions.negotiate(ok.csr_fore_chan_attrs, ok.csr_back_chan_attrs);
  if (status != NFS4_OK) return status;
  clients.clients.confirm(client);
  client.lease_ends = context.server.lease_end();
  const SessionRef session = clients.sessions.create(client, ok.csr_fore_chan_attrs);
  ok.csr_sessionid = session->id;
  ok.csr_sequence = args.csa_sequence;
  // Neither persistent reply caches nor stepping up to RDMA: the connection is RDMA already.
  ok.csr_flags = args.csa_flags & CREATE_SESSION4_FLAG_CONN_BACK_CHAN;
  // Without a way to authenticate to the client there is no back channel.
  if (!session->back.aim(args.csa_cb_program, args.csa_sec_parms)) ok.csr_flags = 0;
  session->back.wanted = ok.csr_flags != 0;
  session->back.attributes = ok.csr_back_chan_attrs;
  if (session->back.wanted) session->back.connection = &context.call.connection();
  return NFS4_OK;
}

}  // namespace

nfsstat4 op_create_session(CompoundContext& context, const CREATE_SESSION4args& args,
                           CREATE_SESSION4res& result) {
  Client* client = context.server.clients->clients.find(args.csa_clientid);
  if (!client) return NFS4ERR_STALE_CLIENTID;
  const auto order = client->order_of_creation(args.csa_sequence);
  if (!order) return order.error();
  if (*order == Order::retry) {
    result = *client->last_create_session;
    return result.csr_status;
  }
  if (client->principal != context.principal) return NFS4ERR_CLID_INUSE;
  if ((args.csa_flags & ~kFlags) != 0) return NFS4ERR_INVAL;
  result.csr_status = make_session(context, *client, args, result.csr_resok4);
  // A request that makes no session does not take the slot: the number can be used again.
  if (result.csr_status == NFS4ERR_TOOSMALL) return result.csr_status;
  client->keep_creation(args.csa_sequence, result);
  return result.csr_status;
}

}  // namespace nfsrdma::responder
