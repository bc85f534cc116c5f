// REMOVE (RFC 8881 section 18.25), of files and directories alike.
#pragma once

#include <string_view>

#include "client/proto/object.h"

namespace nfsrdma::client {

class Mount;

Task<Result<void>> remove(Mount& mount, Credential caller, FileHandle dir, std::string_view name);

}  // namespace nfsrdma::client
