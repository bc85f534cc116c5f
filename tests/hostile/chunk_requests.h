// Requests of the kernel whose data travels by RDMA, and some beside them that it does not.
#pragma once

#include <vector>

#include "tests/hostile/kernel_operations.h"

namespace nfsrdma::hostile {

/// Small and large reads and writes, listings, texts of links; and one each that lends no memory.
std::vector<KernelOperation> chunk_requests();

}  // namespace nfsrdma::hostile
