#include "oracle_rpc.h"

#include <rpc/rpc.h>
#include <string.h>

static bool_t no_results(XDR* xdrs) {
  (void)xdrs;
  return TRUE;
}

static size_t encode_sys(const struct oracle_credential* credential, char* out, size_t room) {
  gid_t gids[16];
  struct authunix_parms parms;
  for (uint32_t i = 0; i < credential->gid_count; ++i) gids[i] = credential->gids[i];
  memset(&parms, 0, sizeof parms);
  parms.aup_machname = (char*)credential->machine_name;
  parms.aup_uid = credential->uid;
  parms.aup_gid = credential->gid;
  parms.aup_len = credential->gid_count;
  parms.aup_gids = gids;
  XDR xdrs;
  xdrmem_create(&xdrs, out, (u_int)room, XDR_ENCODE);
  return xdr_authunix_parms(&xdrs, &parms) ? xdr_getpos(&xdrs) : 0;
}

size_t oracle_rpc_call(uint32_t xid, uint32_t program, uint32_t version, uint32_t procedure,
                       const struct oracle_credential* credential, void* out, size_t room) {
  char body[MAX_AUTH_BYTES];
  struct rpc_msg message;
  memset(&message, 0, sizeof message);
  message.rm_xid = xid;
  message.rm_direction = CALL;
  message.rm_call.cb_rpcvers = RPC_MSG_VERSION;
  message.rm_call.cb_prog = program;
  message.rm_call.cb_vers = version;
  message.rm_call.cb_proc = procedure;
  if (credential->sys) {
    message.rm_call.cb_cred.oa_flavor = AUTH_SYS;
    message.rm_call.cb_cred.oa_base = body;
    message.rm_call.cb_cred.oa_length = (u_int)encode_sys(credential, body, sizeof body);
  }
  XDR xdrs;
  xdrmem_create(&xdrs, out, (u_int)room, XDR_ENCODE);
  return xdr_callmsg(&xdrs, &message) ? xdr_getpos(&xdrs) : 0;
}

static size_t encode_reply(struct rpc_msg* message, void* out, size_t room) {
  XDR xdrs;
  xdrmem_create(&xdrs, out, (u_int)room, XDR_ENCODE);
  return xdr_replymsg(&xdrs, message) ? xdr_getpos(&xdrs) : 0;
}

size_t oracle_rpc_accepted(uint32_t xid, uint32_t accept_stat, uint32_t low, uint32_t high,
                           void* out, size_t room) {
  struct rpc_msg message;
  memset(&message, 0, sizeof message);
  message.rm_xid = xid;
  message.rm_direction = REPLY;
  message.rm_reply.rp_stat = MSG_ACCEPTED;
  message.acpted_rply.ar_stat = accept_stat;
  if (accept_stat == PROG_MISMATCH) {
    message.acpted_rply.ar_vers.low = low;
    message.acpted_rply.ar_vers.high = high;
  } else {
    message.acpted_rply.ar_results.proc = (xdrproc_t)no_results;
  }
  return encode_reply(&message, out, room);
}

static size_t encode_denied(uint32_t xid, enum reject_stat reason, uint32_t first, uint32_t second,
                            void* out, size_t room) {
  struct rpc_msg message;
  memset(&message, 0, sizeof message);
  message.rm_xid = xid;
  message.rm_direction = REPLY;
  message.rm_reply.rp_stat = MSG_DENIED;
  message.rjcted_rply.rj_stat = reason;
  if (reason == AUTH_ERROR) {
    message.rjcted_rply.rj_why = first;
  } else {
    message.rjcted_rply.rj_vers.low = first;
    message.rjcted_rply.rj_vers.high = second;
  }
  return encode_reply(&message, out, room);
}

size_t oracle_rpc_auth_error(uint32_t xid, uint32_t auth_stat, void* out, size_t room) {
  return encode_denied(xid, AUTH_ERROR, auth_stat, 0, out, room);
}

size_t oracle_rpc_mismatch(uint32_t xid, uint32_t low, uint32_t high, void* out, size_t room) {
  return encode_denied(xid, RPC_MISMATCH, low, high, out, room);
}
