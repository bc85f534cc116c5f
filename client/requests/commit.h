// COMMIT (RFC 8881 section 18.3).
#pragma once

#include <cstdint>
#include <optional>

#include "client/proto/object.h"

namespace nfsrdma::client {

struct RequestContext;

/// count 0: to the end of the file. Returns the write verifier.
Task<Result<nfs4::verifier4>> commit(RequestContext& context, Credential caller, FileHandle file,
                                     std::uint64_t offset, std::uint32_t count);

struct Committed {
  nfs4::verifier4 verifier{};
  std::optional<Attributes> attributes;  ///< after the COMMIT; empty: the server did not tell them
};

/// The same, and asks for the attributes of the file in the same request.
Task<Result<Committed>> commit_and_look(RequestContext& context, Credential caller, FileHandle file,
                                        std::uint64_t offset, std::uint32_t count);

}  // namespace nfsrdma::client
