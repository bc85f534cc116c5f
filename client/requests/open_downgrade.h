// OPEN_DOWNGRADE (RFC 8881 section 18.18).
#pragma once

#include "client/requests/close.h"

namespace nfsrdma::client {

/// `share_access`: the accesses that the open keeps, OPEN4_SHARE_ACCESS_* bits.
Task<Narrowed> open_downgrade(RequestContext& context, Credential caller, FileHandle file,
                              nfs4::stateid4 open, std::uint32_t share_access);

}  // namespace nfsrdma::client
