// Which property operations an end may choose to support.
#pragma once

#include <array>

#include "transport/rdma/properties.h"

namespace nfsrdma::rdma {

/// Whether the drafts allow this choice: an end that supports RESPROP or UPDPROP supports CONNPROP
/// (XP-4-4), one that sends REQPROP supports RESPROP (XP-4-3).
inline bool is_legal_support(const std::array<bool, kOptionTypes>& supports) {
  if (supports[ROPT_REQPROP] && !supports[ROPT_RESPROP]) return false;
  return supports[ROPT_CONNPROP] || !(supports[ROPT_RESPROP] || supports[ROPT_UPDPROP]);
}

}  // namespace nfsrdma::rdma
