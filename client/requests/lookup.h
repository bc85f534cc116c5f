// LOOKUP and PUTROOTFH (RFC 8881 sections 18.13, 18.21), with the attributes of the file found.
#pragma once

#include <string_view>

#include "client/proto/object.h"

namespace nfsrdma::client {

struct RequestContext;

/// `name` needs to be valid until the first suspension only.
Task<Result<Found>> lookup(RequestContext& context, Credential caller, FileHandle dir,
                           std::string_view name);
/// The root of the server's file systems.
Task<Result<Found>> lookup_root(RequestContext& context, Credential caller);

}  // namespace nfsrdma::client
