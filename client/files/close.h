// CLOSE and OPEN_DOWNGRADE (RFC 8881 sections 18.2, 18.18).
#pragma once

#include "client/proto/object.h"
#include "client/state/open_state.h"

namespace nfsrdma::client {

class Mount;

/// Gives an open back: CLOSE on the last reference of the file and owner, OPEN_DOWNGRADE when the
/// remaining ones need less access, else nothing is sent.
Task<Result<void>> close(Mount& mount, OpenRef open);

}  // namespace nfsrdma::client
