// The operations. Each gets its decoded arguments, fills in what follows a status of NFS4_OK (or
// NFS4ERR_DENIED) and returns the status. Current and saved file handles have been checked to be
// there where operation_table.cc says so.
#pragma once

#include "tests/proto/operations.h"
#include "tests/responder/nfs/compound_context.h"

namespace nfsrdma::responder {

#define NFSRDMA_OPERATION(function, NAME)                                           \
  nfs4::nfsstat4 function(CompoundContext& context, const nfs4::NAME##4args & args, \
                          nfs4::NAME##4res & result)

// Sessions and client ids
NFSRDMA_OPERATION(op_exchange_id, EXCHANGE_ID);
NFSRDMA_OPERATION(op_create_session, CREATE_SESSION);
NFSRDMA_OPERATION(op_destroy_session, DESTROY_SESSION);
NFSRDMA_OPERATION(op_destroy_clientid, DESTROY_CLIENTID);
NFSRDMA_OPERATION(op_bind_conn_to_session, BIND_CONN_TO_SESSION);
NFSRDMA_OPERATION(op_backchannel_ctl, BACKCHANNEL_CTL);
NFSRDMA_OPERATION(op_reclaim_complete, RECLAIM_COMPLETE);

// File handles and names
NFSRDMA_OPERATION(op_putrootfh, PUTROOTFH);
NFSRDMA_OPERATION(op_putpubfh, PUTPUBFH);
NFSRDMA_OPERATION(op_putfh, PUTFH);
NFSRDMA_OPERATION(op_getfh, GETFH);
NFSRDMA_OPERATION(op_savefh, SAVEFH);
NFSRDMA_OPERATION(op_restorefh, RESTOREFH);
NFSRDMA_OPERATION(op_lookup, LOOKUP);
NFSRDMA_OPERATION(op_lookupp, LOOKUPP);
NFSRDMA_OPERATION(op_create, CREATE);
NFSRDMA_OPERATION(op_remove, REMOVE);
NFSRDMA_OPERATION(op_rename, RENAME);
NFSRDMA_OPERATION(op_link, LINK);
NFSRDMA_OPERATION(op_readlink, READLINK);
NFSRDMA_OPERATION(op_secinfo, SECINFO);
NFSRDMA_OPERATION(op_secinfo_no_name, SECINFO_NO_NAME);

// Attributes
NFSRDMA_OPERATION(op_access, ACCESS);
NFSRDMA_OPERATION(op_setattr, SETATTR);
NFSRDMA_OPERATION(op_verify, VERIFY);
NFSRDMA_OPERATION(op_nverify, NVERIFY);

// Opens, locks and data
NFSRDMA_OPERATION(op_open, OPEN);
NFSRDMA_OPERATION(op_close, CLOSE);
NFSRDMA_OPERATION(op_open_downgrade, OPEN_DOWNGRADE);
NFSRDMA_OPERATION(op_read, READ);
NFSRDMA_OPERATION(op_write, WRITE);
NFSRDMA_OPERATION(op_commit, COMMIT);
NFSRDMA_OPERATION(op_lock, LOCK);
NFSRDMA_OPERATION(op_lockt, LOCKT);
NFSRDMA_OPERATION(op_locku, LOCKU);
NFSRDMA_OPERATION(op_test_stateid, TEST_STATEID);
NFSRDMA_OPERATION(op_free_stateid, FREE_STATEID);
NFSRDMA_OPERATION(op_delegreturn, DELEGRETURN);

#undef NFSRDMA_OPERATION

// These encode what follows NFS4_OK themselves, straight into context.out.
nfs4::nfsstat4 op_getattr(CompoundContext& context, const nfs4::GETATTR4args& args);
nfs4::nfsstat4 op_readdir(CompoundContext& context, const nfs4::READDIR4args& args);

/// NFS4_OK for a directory; else NOTDIR, or SYMLINK where a name in a symbolic link was asked for.
nfs4::nfsstat4 not_a_directory(const File& file);

}  // namespace nfsrdma::responder
