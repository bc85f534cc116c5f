// FREE_STATEID (RFC 8881 section 18.38).
#pragma once

#include "client/requests/sending.h"

namespace nfsrdma::client {

/// An error when there was no answer. The server's status makes no difference: the stateid is not
/// used again.
Task<Result<void>> free_stateid(RequestContext& context, Credential caller, nfs4::stateid4 stateid,
                                Sending sending = {});

}  // namespace nfsrdma::client
