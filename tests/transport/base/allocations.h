// Counts heap allocations of the whole program, for tests of what must not allocate.
#pragma once

#include <cstddef>

namespace nfsrdma::testing_support {

/// Calls of operator new so far, on all threads.
std::size_t allocations();

}  // namespace nfsrdma::testing_support
