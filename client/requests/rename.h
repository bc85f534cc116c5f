// RENAME (RFC 8881 section 18.26).
#pragma once

#include <string_view>

#include "client/proto/object.h"

namespace nfsrdma::client {

class Mount;

Task<Result<void>> rename(Mount& mount, Credential caller, FileHandle from_dir,
                          std::string_view from, FileHandle to_dir, std::string_view to);

}  // namespace nfsrdma::client
