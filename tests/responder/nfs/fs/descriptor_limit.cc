#include "tests/responder/nfs/fs/descriptor_limit.h"

#include <sys/resource.h>

#include <algorithm>

#include "transport/base/log.h"

namespace nfsrdma::responder {
namespace {

constexpr std::size_t kLeastDescriptors = 64;
/// Of the limit; no more than kMostReserved.
constexpr std::size_t kReservedPart = 4;
constexpr std::size_t kMostReserved = 256;

std::size_t reserve_of(std::size_t limit) { return std::min(limit / kReservedPart, kMostReserved); }

}  // namespace

DescriptorLimit::DescriptorLimit() : limit_(kLeastDescriptors) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  if (limit.rlim_cur < limit.rlim_max) {
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    ::getrlimit(RLIMIT_NOFILE, &limit);
  }
  limit_ = limit.rlim_cur;
}

std::size_t DescriptorLimit::affordable(std::size_t wanted) const {
  return std::max<std::size_t>(kLeastDescriptors, std::min<std::size_t>(wanted, limit_ / 2));
}

bool DescriptorLimit::is_reached(std::size_t used) const {
  return used + reserve_of(limit_) >= limit_;
}

bool DescriptorLimit::refuses(std::size_t used) {
  if (is_reached(used)) {
    report();
    return true;
  }
  if (!is_reached(used + reserve_of(limit_))) reported_ = false;
  return false;
}

void DescriptorLimit::report() {
  if (reported_) return;
  reported_ = true;
  log::error(
      "out of file descriptors: the limit of this process is {}, and each file that a client has "
      "open takes two. OPEN fails with NFS4ERR_SERVERFAULT until files are closed; raise the hard "
      "limit (ulimit -Hn, LimitNOFILE=) and start again to serve more",
      limit_);
}

}  // namespace nfsrdma::responder
