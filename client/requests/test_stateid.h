// TEST_STATEID (RFC 8881 section 18.48).
#pragma once

#include <vector>

#include "client/proto/status.h"
#include "client/requests/sending.h"

namespace nfsrdma::client {

/// The server's status for each; never more answers than stateids.
Task<Result<std::vector<nfs4::nfsstat4>>> test_stateid(RequestContext& context, Credential caller,
                                                       std::vector<nfs4::stateid4> stateids,
                                                       Sending sending);

}  // namespace nfsrdma::client
