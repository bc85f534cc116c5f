#include "transport/fabric/iwarp/random.h"

#include <sys/random.h>

namespace nfsrdma::fabric::iwarp {

std::uint64_t Random::next() {
  if (used_ == kNumbersPerCall) {
    auto* to = reinterpret_cast<std::byte*>(numbers_.data());
    std::size_t have = 0;
    while (have < sizeof numbers_) {
      const ssize_t got = ::getrandom(to + have, sizeof numbers_ - have, 0);
      // Only a signal can stop it: the generator is initialised long before this runs.
      if (got > 0) have += static_cast<std::size_t>(got);
    }
    used_ = 0;
  }
  return numbers_[used_++];
}

}  // namespace nfsrdma::fabric::iwarp
