// RENAME (RFC 8881 section 18.26).
#pragma once

#include <string_view>

#include "client/compound/without_caller.h"
#include "client/proto/object.h"

namespace nfsrdma::client {

struct RequestContext;

struct Renamed {
  NameChange source;
  NameChange target;
};

Task<Result<Renamed>> rename(RequestContext& context, Credential caller, FileHandle from_dir,
                             std::string_view from, FileHandle to_dir, std::string_view to,
                             WithoutCaller without_caller = WithoutCaller::ends);

}  // namespace nfsrdma::client
