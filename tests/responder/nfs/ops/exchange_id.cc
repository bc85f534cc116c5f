// RFC 8881 section 18.35.
#include "tests/responder/nfs/ops/ops.h"

namespace nfsrdma::responder {

using namespace nfs4;

namespace {

constexpr std::uint32_t kFlagsOfClients =
    EXCHGID4_FLAG_SUPP_MOVED_REFER | EXCHGID4_FLAG_SUPP_MOVED_MIGR |
    EXCHGID4_FLAG_BIND_PRINC_STATEID | EXCHGID4_FLAG_MASK_PNFS | EXCHGID4_FLAG_UPD_CONFIRMED_REC_A;

}  // namespace

nfsstat4 op_exchange_id(CompoundContext& context, const EXCHANGE_ID4args& args,
                        EXCHANGE_ID4res& result) {
  if ((args.eia_flags & ~kFlagsOfClients) != 0) return NFS4ERR_INVAL;
  if (args.eia_state_protect.spa_how == SP4_SSV) return NFS4ERR_ENCR_ALG_UNSUPP;
  // Machine credentials need RPCSEC_GSS, which is not spoken here.
  if (args.eia_state_protect.spa_how == SP4_MACH_CRED) return NFS4ERR_INVAL;
  ServerState& server = context.server;
  ClientState& clients = *server.clients;
  const ClientTable::Holdings holdings{
      [&](const Client& client) { return clients.sessions.has_any(client); },
      [&](const Client& client) { return clients.states.has_any(client); }};
  const auto client =
      clients.clients.exchange(args, context.principal, server.lease_end(), holdings);
  if (!client) return client.error();
  EXCHANGE_ID4resok& ok = result.eir_resok4;
  ok.eir_clientid = (*client)->id;
  ok.eir_sequenceid = (*client)->session_sequence + 1;
  ok.eir_flags = EXCHGID4_FLAG_USE_NON_PNFS;
  if ((*client)->confirmed) ok.eir_flags |= EXCHGID4_FLAG_CONFIRMED_R;
  const auto identity = std::as_bytes(std::span(server.config.server_identity));
  ok.eir_server_owner.so_major_id = identity;
  ok.eir_server_scope = identity;
  return NFS4_OK;
}

}  // namespace nfsrdma::responder
