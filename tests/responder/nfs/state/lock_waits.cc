#include "tests/responder/nfs/state/lock_waits.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace nfsrdma::responder {
namespace {

/// For a request on its way; and all there is for the first of a wait.
constexpr Duration kSlack = std::chrono::seconds(2);

LockOwnerKey key_of(const LockState& lock) { return {lock.client.id, lock.owner}; }

}  // namespace

bool LockWaits::closes_a_circle(const LockOwnerKey& owner, const FileRef& file,
                                const ByteRange& range, bool exclusive, TimePoint now) {
  std::erase_if(waits_, [&](const auto& entry) { return entry.second.until < now; });
  Wait wait{file, range, exclusive, now, now + kSlack};
  const auto before = waits_.find(owner);
  if (before != waits_.end()) wait.until += 2 * (now - before->second.asked);
  waits_.erase(owner);
  Owners seen;
  const Owners holders = in_the_way_of(owner, wait);
  const bool circle = std::ranges::any_of(
      holders, [&](const LockOwnerKey& holder) { return waits_for(holder, owner, seen); });
  if (!circle) waits_.emplace(owner, std::move(wait));
  return circle;
}

LockWaits::Owners LockWaits::in_the_way_of(const LockOwnerKey& owner, const Wait& wait) {
  Owners holders;
  const LockRanges* locks = states_.locks_on(*wait.file);
  if (!locks) return holders;
  for (const LockedRange& held : locks->ranges()) {
    if (!held.range.overlaps(wait.range) || !(wait.exclusive || held.exclusive)) continue;
    LockOwnerKey holder = key_of(*held.holder);
    if (holder != owner) holders.insert(std::move(holder));
  }
  return holders;
}

bool LockWaits::waits_for(const LockOwnerKey& holder, const LockOwnerKey& target, Owners& seen) {
  if (holder == target) return true;
  if (!seen.insert(holder).second) return false;
  const auto wait = waits_.find(holder);
  if (wait == waits_.end()) return false;
  const Owners next = in_the_way_of(holder, wait->second);
  return std::ranges::any_of(
      next, [&](const LockOwnerKey& each) { return waits_for(each, target, seen); });
}

}  // namespace nfsrdma::responder
