// DELEGRETURN (RFC 8881 section 18.6).
#pragma once

#include "client/compound/state_holder.h"
#include "client/proto/object.h"
#include "client/requests/close.h"

namespace nfsrdma::client {

struct RequestContext;

/// Returns a delegation; fills in the stateid when it is sent. Waits for a lease at most.
Task<Result<void>> delegreturn(RequestContext& context, Credential caller, FileHandle file,
                               StateRef delegation);
/// The same for one that is not in the table.
Task<Result<void>> delegreturn(RequestContext& context, Credential caller, FileHandle file,
                               nfs4::stateid4 delegation);
/// Together with CLOSE, in one request: the answer to CLOSE. An error: the delegation has not been
/// returned, and nothing was done. What the server refuses or puts off is not tried again.
Task<Result<Narrowed>> delegreturn_and_close(RequestContext& context, Credential caller,
                                             FileHandle file, nfs4::stateid4 delegation,
                                             nfs4::stateid4 open);
/// Likewise, however long it takes. Logs a failure.
Task<void> delegreturn_quietly(RequestContext& context, Credential caller, FileHandle file,
                               nfs4::stateid4 delegation);

}  // namespace nfsrdma::client
