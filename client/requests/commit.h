// COMMIT (RFC 8881 section 18.3).
#pragma once

#include <cstdint>

#include "client/proto/object.h"

namespace nfsrdma::client {

struct RequestContext;

/// count 0: to the end of the file. Returns the write verifier.
Task<Result<nfs4::verifier4>> commit(RequestContext& context, Credential caller, FileHandle file,
                                     std::uint64_t offset, std::uint32_t count);

}  // namespace nfsrdma::client
