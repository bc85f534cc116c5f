#include "tests/responder/nfs/instance.h"

#include <sys/random.h>

#include <cstdlib>

namespace nfsrdma::responder {

Instance Instance::begin(TimePoint grace_ends, std::set<std::string> reclaimers,
                         bool any_may_reclaim) {
  Instance instance;
  auto& verifier = instance.write_verifier;
  const auto number_size = static_cast<ssize_t>(sizeof instance.number);
  const auto verifier_size = static_cast<ssize_t>(verifier.size());
  if (::getrandom(&instance.number, sizeof instance.number, 0) != number_size ||
      ::getrandom(verifier.data(), verifier.size(), 0) != verifier_size) {
    std::abort();
  }
  // Never all zeros or all ones: those mark special stateids.
  constexpr std::uint32_t kNotSpecial = 0x40000000;
  instance.number = (instance.number | kNotSpecial) & ~(kNotSpecial << 1);
  instance.grace_ends = grace_ends;
  instance.reclaimers = std::move(reclaimers);
  instance.any_may_reclaim = any_may_reclaim;
  return instance;
}

void Instance::reclaimed(const std::string& owner) {
  if (any_may_reclaim) return;
  reclaimers.erase(owner);
  if (reclaimers.empty()) grace_ends = {};
}

}  // namespace nfsrdma::responder
