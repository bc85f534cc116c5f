// LINK (RFC 8881 section 18.9).
#pragma once

#include <string_view>

#include "client/proto/object.h"

namespace nfsrdma::client {

struct RequestContext;

/// Gives `file` another name; returns it with its attributes (the new link count).
Task<Result<Made>> link(RequestContext& context, Credential caller, FileHandle file, FileHandle dir,
                        std::string_view name);

}  // namespace nfsrdma::client
