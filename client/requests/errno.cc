#include "client/requests/errno.h"

#include <cerrno>

#include "transport/net/fault.h"
#include "transport/rpc/message.h"

namespace nfsrdma::client {

// No default: the compiler tells when a status is missing. Errors that the client handles itself
// (session, state and retry errors) become EIO if one reaches a caller nevertheless.
int to_errno(nfs4::nfsstat4 status) {
  using namespace nfs4;
  switch (status) {
    case NFS4ERR_PERM:
    case NFS4ERR_LOCKS_HELD: return EPERM;
    case NFS4ERR_NOENT: return ENOENT;
    case NFS4ERR_NXIO: return ENXIO;
    case NFS4ERR_ACCESS:
    case NFS4ERR_WRONG_CRED: return EACCES;
    case NFS4ERR_WRONGSEC: return EPERM;
    case NFS4ERR_EXIST: return EEXIST;
    case NFS4ERR_XDEV: return EXDEV;
    case NFS4ERR_NOTDIR: return ENOTDIR;
    case NFS4ERR_ISDIR: return EISDIR;
    case NFS4ERR_INVAL:
    case NFS4ERR_BADCHAR:
    case NFS4ERR_BADNAME:
    case NFS4ERR_BADOWNER:
    case NFS4ERR_BADTYPE:
    case NFS4ERR_ATTRNOTSUPP:
    case NFS4ERR_BAD_RANGE:
    case NFS4ERR_LOCK_RANGE: return EINVAL;
    case NFS4ERR_FBIG: return EFBIG;
    case NFS4ERR_NOSPC: return ENOSPC;
    case NFS4ERR_ROFS: return EROFS;
    case NFS4ERR_MLINK: return EMLINK;
    case NFS4ERR_NAMETOOLONG: return ENAMETOOLONG;
    case NFS4ERR_NOTEMPTY: return ENOTEMPTY;
    case NFS4ERR_DQUOT: return EDQUOT;
    case NFS4ERR_STALE:
    case NFS4ERR_BADHANDLE:
    case NFS4ERR_FHEXPIRED: return ESTALE;
    case NFS4ERR_NOTSUPP:
    case NFS4ERR_LOCK_NOTSUPP:
    case NFS4ERR_OP_ILLEGAL: return EOPNOTSUPP;
    case NFS4ERR_SYMLINK: return ELOOP;
    case NFS4ERR_DEADLOCK: return EDEADLK;
    case NFS4ERR_DENIED:
    case NFS4ERR_LOCKED:
    case NFS4ERR_DELAY:
    case NFS4ERR_GRACE: return EAGAIN;
    case NFS4ERR_FILE_OPEN:
    case NFS4ERR_SHARE_DENIED:
    case NFS4ERR_CLID_INUSE:
    case NFS4ERR_CLIENTID_BUSY: return EBUSY;
    case NFS4ERR_OPENMODE: return EBADF;
    case NFS4ERR_REQ_TOO_BIG: return EMSGSIZE;
    case NFS4ERR_WRONG_TYPE: return EINVAL;

    case NFS4_OK:
    case NFS4ERR_IO:
    case NFS4ERR_BAD_COOKIE:
    case NFS4ERR_TOOSMALL:
    case NFS4ERR_SERVERFAULT:
    case NFS4ERR_SAME:
    case NFS4ERR_EXPIRED:
    case NFS4ERR_RESOURCE:
    case NFS4ERR_NOFILEHANDLE:
    case NFS4ERR_MINOR_VERS_MISMATCH:
    case NFS4ERR_STALE_CLIENTID:
    case NFS4ERR_STALE_STATEID:
    case NFS4ERR_OLD_STATEID:
    case NFS4ERR_BAD_STATEID:
    case NFS4ERR_BAD_SEQID:
    case NFS4ERR_NOT_SAME:
    case NFS4ERR_RESTOREFH:
    case NFS4ERR_MOVED:  // not followed: ESTALE would make the kernel look the path up
                         // again
    case NFS4ERR_LEASE_MOVED:
    case NFS4ERR_NO_GRACE:
    case NFS4ERR_RECLAIM_BAD:
    case NFS4ERR_RECLAIM_CONFLICT:
    case NFS4ERR_BADXDR:
    case NFS4ERR_ADMIN_REVOKED:
    case NFS4ERR_CB_PATH_DOWN:
    case NFS4ERR_BADIOMODE:
    case NFS4ERR_BADLAYOUT:
    case NFS4ERR_BAD_SESSION_DIGEST:
    case NFS4ERR_BADSESSION:
    case NFS4ERR_BADSLOT:
    case NFS4ERR_COMPLETE_ALREADY:
    case NFS4ERR_CONN_NOT_BOUND_TO_SESSION:
    case NFS4ERR_DELEG_ALREADY_WANTED:
    case NFS4ERR_BACK_CHAN_BUSY:
    case NFS4ERR_LAYOUTTRYLATER:
    case NFS4ERR_LAYOUTUNAVAILABLE:
    case NFS4ERR_NOMATCHING_LAYOUT:
    case NFS4ERR_RECALLCONFLICT:
    case NFS4ERR_UNKNOWN_LAYOUTTYPE:
    case NFS4ERR_SEQ_MISORDERED:
    case NFS4ERR_SEQUENCE_POS:
    case NFS4ERR_REP_TOO_BIG:
    case NFS4ERR_REP_TOO_BIG_TO_CACHE:
    case NFS4ERR_RETRY_UNCACHED_REP:
    case NFS4ERR_UNSAFE_COMPOUND:
    case NFS4ERR_TOO_MANY_OPS:
    case NFS4ERR_OP_NOT_IN_SESSION:
    case NFS4ERR_HASH_ALG_UNSUPP:
    case NFS4ERR_PNFS_IO_HOLE:
    case NFS4ERR_SEQ_FALSE_RETRY:
    case NFS4ERR_BAD_HIGH_SLOT:
    case NFS4ERR_DEADSESSION:
    case NFS4ERR_ENCR_ALG_UNSUPP:
    case NFS4ERR_PNFS_NO_LAYOUT:
    case NFS4ERR_NOT_ONLY_OP:
    case NFS4ERR_DIRDELEG_UNAVAIL:
    case NFS4ERR_REJECT_DELEG:
    case NFS4ERR_RETURNCONFLICT:
    case NFS4ERR_DELEG_REVOKED: return EIO;
  }
  return EIO;  // not an nfsstat4: whatever the server meant, it did not succeed
}

namespace {

int from_rpc(int code) { return code == static_cast<int>(rpc::Fault::auth_error) ? EACCES : EIO; }

int from_fabric(int code) {
  return code == static_cast<int>(net::Fault::timed_out) ? ETIMEDOUT : EIO;
}

}  // namespace

int to_errno(const Error& error) {
  switch (error.layer) {
    case Layer::nfs: return to_errno(static_cast<nfs4::nfsstat4>(error.code));
    case Layer::rpc: return from_rpc(error.code);
    case Layer::fabric: return from_fabric(error.code);
    case Layer::system:
    case Layer::local: return error.code > 0 ? error.code : EIO;
    case Layer::transport:
    case Layer::decode: return EIO;
  }
  return EIO;
}

}  // namespace nfsrdma::client
