// Whether this machine can do RDMA at all, told in a line an administrator can act on.
#pragma once

#include "transport/base/result.h"

namespace nfsrdma::fabric::verbs {

/// Looks for a device in sysfs and for the character devices of rdma-core. Called before librdmacm
/// is: it writes complaints of its own to standard error.
Result<void> check_presence();

}  // namespace nfsrdma::fabric::verbs
