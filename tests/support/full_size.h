// Tests that repeat something many times: the number of the default run, and the full one.
#pragma once

#include <cstddef>
#include <cstdlib>

namespace nfsrdma::testing {

/// `full` when NFSRDMA_FULL_SIZE is set (tests with the label `long`), else `usual`.
inline std::size_t scaled(std::size_t usual, std::size_t full) {
  return std::getenv("NFSRDMA_FULL_SIZE") != nullptr ? full : usual;
}

}  // namespace nfsrdma::testing
