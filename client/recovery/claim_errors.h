// Sorts the errors of requests that reclaim or reopen states.
#pragma once

#include "client/proto/status.h"
#include "transport/base/error.h"
#include "transport/net/fault.h"

namespace nfsrdma::client {

/// Of session, client id or connection: nothing is said about the state itself.
inline bool is_cut_off(const Error& error) {
  if (error.layer != Layer::nfs) return true;
  switch (static_cast<nfs4::nfsstat4>(error.code)) {
    case nfs4::NFS4ERR_STALE_CLIENTID:
    case nfs4::NFS4ERR_EXPIRED:
    case nfs4::NFS4ERR_BADSESSION:
    case nfs4::NFS4ERR_DEADSESSION:
    case nfs4::NFS4ERR_SEQ_MISORDERED:
    case nfs4::NFS4ERR_CONN_NOT_BOUND_TO_SESSION: return true;
    default: return false;
  }
}

/// The connection has ended, and not for what was sent on it.
inline bool is_connection_lost(const Error& error) {
  return error.layer == Layer::fabric && !net::message_can_cause(error);
}

inline bool asks_for_patience(const Error& error) {
  return error.is(Layer::nfs, nfs4::NFS4ERR_DELAY) || error.is(Layer::nfs, nfs4::NFS4ERR_GRACE);
}

}  // namespace nfsrdma::client
