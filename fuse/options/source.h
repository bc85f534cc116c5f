// The remote side of a mount as the user writes it: `host:/path` or `[v6]:/path`.
#pragma once

#include <string>
#include <string_view>

#include "transport/base/result.h"

namespace nfsrdma::fuse {

struct Source {
  std::string text;  ///< as written; shown by df and findmnt
  std::string host;  ///< name or address literal, without brackets
  std::string path;  ///< absolute: "/", "/export/dir"
};

/// The error's detail says which part is wrong.
Result<Source> parse_source(std::string_view text);

}  // namespace nfsrdma::fuse
