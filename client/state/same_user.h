// Callers whom the server tells apart.
#pragma once

#include <algorithm>

#include "client/proto/object.h"

namespace nfsrdma::client {

/// Whether the server allows both the same: supplementary groups give access, too.
inline bool same_user(const Credential& a, const Credential& b) {
  return a.uid == b.uid && a.gid == b.gid && std::ranges::equal(a.group_list(), b.group_list());
}

}  // namespace nfsrdma::client
