#include "tests/responder/nfs/fs/change_attribute.h"

namespace nfsrdma::responder {

void ChangeCounters::bump(const InodeKey& key) {
  const auto [place, added] = changes_.try_emplace(key, 0);
  ++place->second;
  if (!added) return;
  order_.push_back(key);
  if (order_.size() <= kMaxRemembered) return;
  changes_.erase(order_.front());
  order_.pop_front();
}

std::uint64_t ChangeCounters::value(const FileStat& stat) const {
  const auto found = changes_.find(stat.key());
  return stat.ctime_ns() + (found == changes_.end() ? 0 : found->second);
}

}  // namespace nfsrdma::responder
