// How long attributes and names are believed: the ac* and lookupcache= options of nfs(5).
#pragma once

#include <algorithm>
#include <chrono>

#include "transport/base/reactor.h"

namespace nfsrdma::cache {

/// Which names found, or found missing, the kernel may remember (lookupcache=).
enum class LookupCache { all, positive, none };

struct AttributePolicy {
  Duration acregmin = std::chrono::seconds(3);
  Duration acregmax = std::chrono::seconds(60);
  Duration acdirmin = std::chrono::seconds(30);
  Duration acdirmax = std::chrono::seconds(60);
  bool noac = false;  ///< nothing is believed longer than the call that fetched it
  LookupCache lookup_cache = LookupCache::all;

  Duration shortest(bool directory) const {
    if (noac) return Duration::zero();
    return directory ? acdirmin : acregmin;
  }
  Duration longest(bool directory) const {
    if (noac) return Duration::zero();
    return std::max(shortest(directory), directory ? acdirmax : acregmax);
  }
};

}  // namespace nfsrdma::cache
