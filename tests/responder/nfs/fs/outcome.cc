#include "tests/responder/nfs/fs/outcome.h"

#include <cerrno>

namespace nfsrdma::responder {

using namespace nfs4;

nfsstat4 status_of_errno(int error_number) {
  switch (error_number) {
    case EPERM: return NFS4ERR_PERM;
    case ENOENT: return NFS4ERR_NOENT;
    case EACCES: return NFS4ERR_ACCESS;
    case EEXIST: return NFS4ERR_EXIST;
    case EXDEV: return NFS4ERR_XDEV;
    case ENOTDIR: return NFS4ERR_NOTDIR;
    case EISDIR: return NFS4ERR_ISDIR;
    case EINVAL: return NFS4ERR_INVAL;
    case EFBIG: return NFS4ERR_FBIG;
    case EOVERFLOW: return NFS4ERR_FBIG;
    case ENOSPC: return NFS4ERR_NOSPC;
    case EROFS: return NFS4ERR_ROFS;
    case EMLINK: return NFS4ERR_MLINK;
    case ENAMETOOLONG: return NFS4ERR_NAMETOOLONG;
    case ENOTEMPTY: return NFS4ERR_NOTEMPTY;
    case EDQUOT: return NFS4ERR_DQUOT;
    case ESTALE: return NFS4ERR_STALE;
    case ELOOP: return NFS4ERR_SYMLINK;
    case EOPNOTSUPP: return NFS4ERR_NOTSUPP;
    case EBUSY: return NFS4ERR_FILE_OPEN;
    case ETXTBSY: return NFS4ERR_FILE_OPEN;
    case EAGAIN:
    case EINTR:
    case ENOMEM: return NFS4ERR_DELAY;
    // Not DELAY: only the clients' own CLOSEs bring descriptors back, so they would wait for ever.
    case EMFILE:
    case ENFILE: return NFS4ERR_SERVERFAULT;
    default: return NFS4ERR_IO;
  }
}

bool is_shortage(int error_number) { return error_number == EMFILE || error_number == ENFILE; }

tl::unexpected<nfsstat4> refuse_errno() { return refuse(status_of_errno(errno)); }

}  // namespace nfsrdma::responder
