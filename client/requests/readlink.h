// READLINK (RFC 8881 section 18.24).
#pragma once

#include <string>

#include "client/proto/object.h"

namespace nfsrdma::client {

class Mount;

Task<Result<std::string>> readlink(Mount& mount, Credential caller, FileHandle file);

}  // namespace nfsrdma::client
