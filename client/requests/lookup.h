// LOOKUP and LOOKUPP (RFC 8881 sections 18.13, 18.14), with the attributes of what was found.
#pragma once

#include <string_view>

#include "client/proto/object.h"

namespace nfsrdma::client {

class Mount;

/// `name` needs to be valid until the first suspension only.
Task<Result<Found>> lookup(Mount& mount, Credential caller, FileHandle dir, std::string_view name);
Task<Result<Found>> lookup_parent(Mount& mount, Credential caller, FileHandle dir);

}  // namespace nfsrdma::client
