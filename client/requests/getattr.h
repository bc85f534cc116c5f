// GETATTR (RFC 8881 section 18.7).
#pragma once

#include "client/proto/object.h"

namespace nfsrdma::client {

class Mount;

Task<Result<Attributes>> getattr(Mount& mount, Credential caller, FileHandle file);

}  // namespace nfsrdma::client
