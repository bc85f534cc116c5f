// BIND_CONN_TO_SESSION and BACKCHANNEL_CTL: RFC 8881 sections 18.34 and 18.33.
#include "tests/responder/nfs/ops/ops.h"

namespace nfsrdma::responder {

using namespace nfs4;

nfsstat4 op_bind_conn_to_session(CompoundContext& context, const BIND_CONN_TO_SESSION4args& args,
                                 BIND_CONN_TO_SESSION4res& result) {
  const SessionRef session = context.server.clients->sessions.find(args.bctsa_sessid);
  if (!session) return NFS4ERR_BADSESSION;
  session->client->lease_ends = context.server.lease_end();
  BIND_CONN_TO_SESSION4resok& ok = result.bctsr_resok4;
  ok.bctsr_sessid = args.bctsa_sessid;
  // A connection serves the fore channel by the mere arrival of SEQUENCE (SP4_NONE).
  switch (args.bctsa_dir) {
    case CDFC4_FORE: ok.bctsr_dir = CDFS4_FORE; break;
    case CDFC4_BACK: ok.bctsr_dir = CDFS4_BACK; break;
    case CDFC4_FORE_OR_BOTH:
    case CDFC4_BACK_OR_BOTH: ok.bctsr_dir = CDFS4_BOTH; break;
  }
  if (ok.bctsr_dir != CDFS4_FORE) {
    session->back.wanted = true;
    session->back.connection = &context.call.connection();
  }
  return NFS4_OK;
}

nfsstat4 op_backchannel_ctl(CompoundContext& context, const BACKCHANNEL_CTL4args& args,
                            BACKCHANNEL_CTL4res&) {
  // Contexts of RPCSEC_GSS are not known here (RFC 8881 section 18.33.3).
  return context.session->back.aim(args.bca_cb_program, args.bca_sec_parms) ? NFS4_OK
                                                                            : NFS4ERR_NOENT;
}

}  // namespace nfsrdma::responder
