// REMOVE (RFC 8881 section 18.25), of files and directories alike.
#pragma once

#include <string_view>

#include "client/compound/without_caller.h"
#include "client/proto/object.h"

namespace nfsrdma::client {

struct RequestContext;

Task<Result<NameChange>> remove(RequestContext& context, Credential caller, FileHandle dir,
                                std::string_view name,
                                WithoutCaller without_caller = WithoutCaller::ends);

}  // namespace nfsrdma::client
