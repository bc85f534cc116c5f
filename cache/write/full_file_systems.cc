#include "cache/write/full_file_systems.h"

#include <algorithm>
#include <cerrno>

namespace nfsrdma::cache {

void FullFileSystems::refused(const FileSystemId& fsid, std::uint32_t uid, int error_number,
                              TimePoint now) {
  if (error_number != ENOSPC && error_number != EDQUOT) return;
  const Refusal refusal{fsid, uid, error_number == ENOSPC, now + kLongest};
  std::erase_if(refusals_, [&](const Refusal& old) {
    return old.until <= now ||
           (old.of_all_users == refusal.of_all_users && old.concerns(fsid, uid));
  });
  // Refusals stand in the order in which they are over.
  if (refusals_.size() == kMost) refusals_.erase(refusals_.begin());
  refusals_.push_back(refusal);
}

void FullFileSystems::grown(const FileSystemId& fsid, std::uint32_t uid) {
  if (refusals_.empty()) return;
  std::erase_if(refusals_, [&](const Refusal& old) { return old.concerns(fsid, uid); });
}

bool FullFileSystems::full(const FileSystemId& fsid, std::uint32_t uid, TimePoint now) const {
  return std::ranges::any_of(refusals_, [&](const Refusal& refusal) {
    return refusal.until > now && refusal.concerns(fsid, uid);
  });
}

}  // namespace nfsrdma::cache
