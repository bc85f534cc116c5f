// What a user may choose of how memory is registered; provider=verbs has the choice.
#pragma once

#include <cstdint>

namespace nfsrdma::fabric {

/// How memory is made reachable for one call.
enum class RegistrationChoice : std::uint8_t {
  automatic,    ///< windows where the device has them, static keys elsewhere
  windows,      ///< type-2 memory windows, or no connection
  static_keys,  ///< registered once for each direction; the key outlives the call
};

}  // namespace nfsrdma::fabric
