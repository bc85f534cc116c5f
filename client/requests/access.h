// ACCESS (RFC 8881 section 18.1).
#pragma once

#include <cstdint>

#include "client/proto/object.h"

namespace nfsrdma::client {

struct RequestContext;

/// Asks for the ACCESS4_* bits given; returns those that the server grants.
Task<Result<std::uint32_t>> access(RequestContext& context, Credential caller, FileHandle file,
                                   std::uint32_t access4_bits);

}  // namespace nfsrdma::client
