#include "client/state/lock_state.h"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace nfsrdma::client {

LockOwnerText::LockOwnerText(const LockOwner& owner) {
  const std::string_view prefix = owner.kind == LockKind::posix ? "nfsrdma fcntl" : "nfsrdma flock";
  std::memcpy(octets_.data(), prefix.data(), prefix.size());
  std::memcpy(octets_.data() + octets_.size() - sizeof owner.id, &owner.id, sizeof owner.id);
}

FileLocks::LockRef FileLocks::obtain(const LockOwner& owner) {
  if (LockRef known = find(owner)) return known;
  auto state = std::make_shared<LockState>();
  state->owner = owner;
  states_.push_back(state);
  return state;
}

FileLocks::LockRef FileLocks::find(const LockOwner& owner) const {
  const auto place = std::find_if(states_.begin(), states_.end(),
                                  [&](const LockRef& state) { return state->owner == owner; });
  return place == states_.end() ? nullptr : *place;
}

FileLocks::LockRef FileLocks::find(std::span<const std::byte> owner_text) const {
  const auto place = std::find_if(states_.begin(), states_.end(), [&](const LockRef& state) {
    const LockOwnerText text(state->owner);
    return std::ranges::equal(text.bytes(), owner_text);
  });
  return place == states_.end() ? nullptr : *place;
}

bool FileLocks::any_held() const {
  return std::any_of(states_.begin(), states_.end(),
                     [](const LockRef& lock) { return !lock->ranges.empty(); });
}

void FileLocks::forget_if_unused(const LockRef& state) {
  constexpr long kHereAndAtTheCaller = 2;
  if (state->established || state.use_count() > kHereAndAtTheCaller) return;
  std::erase(states_, LockRef(state));
}

}  // namespace nfsrdma::client
