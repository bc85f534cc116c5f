// Keeps writes to a file apart from operations that must not run beside them.
#pragma once

#include "transport/base/sync/gate.h"

namespace nfsrdma::cache {

/// Writes pass it shared; sending lost data again and changing the size pass it alone, so that old
/// data never overtakes new.
using WriteGate = Gate;

}  // namespace nfsrdma::cache
