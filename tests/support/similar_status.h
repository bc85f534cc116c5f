// The name of the protocol that somebody may have meant by a status that there is not.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "client/proto/status.h"
#include "transport/base/similar.h"

namespace nfsrdma::testing_support {

/// "NFS4ERR_NOSPC" for "ENOSPC", the errno, and for "NFS4ERR_NOSPACE"; empty: none is near.
inline std::string_view similar_status(std::string_view word) {
  std::string name(word);
  if (word.starts_with('E')) name.replace(0, 1, "NFS4ERR_");
  std::vector<std::string_view> names;
  for (const nfs4::nfsstat4 status : nfs4::all_statuses()) {
    names.push_back(nfs4::status_name(status));
  }
  return most_similar(name, names);
}

}  // namespace nfsrdma::testing_support
