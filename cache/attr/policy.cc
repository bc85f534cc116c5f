#include "cache/attr/policy.h"

#include <algorithm>

namespace nfsrdma::cache {

Duration AttributePolicy::shortest(bool directory) const {
  if (noac) return Duration::zero();
  return directory ? acdirmin : acregmin;
}

Duration AttributePolicy::longest(bool directory) const {
  if (noac) return Duration::zero();
  return std::max(shortest(directory), directory ? acdirmax : acregmax);
}

}  // namespace nfsrdma::cache
