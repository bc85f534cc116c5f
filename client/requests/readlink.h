// READLINK (RFC 8881 section 18.24).
#pragma once

#include <string>

#include "client/proto/object.h"

namespace nfsrdma::client {

struct RequestContext;

Task<Result<std::string>> readlink(RequestContext& context, Credential caller, FileHandle file);

}  // namespace nfsrdma::client
