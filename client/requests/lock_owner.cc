#include "client/requests/lock_owner.h"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace nfsrdma::client {

LockOwnerText::LockOwnerText(const LockOwner& owner) {
  const std::string_view prefix = owner.kind == LockKind::posix ? "nfsrdma proc" : "nfsrdma file";
  std::memcpy(bytes_.data(), prefix.data(), prefix.size());
  std::memcpy(bytes_.data() + bytes_.size() - sizeof owner.id, &owner.id, sizeof owner.id);
}

std::optional<LockOwner> LockOwnerText::owner_of(std::span<const std::byte> text) {
  LockOwner owner;
  if (text.size() < sizeof owner.id) return std::nullopt;
  std::memcpy(&owner.id, text.data() + text.size() - sizeof owner.id, sizeof owner.id);
  for (const LockKind kind : {LockKind::posix, LockKind::flock}) {
    owner.kind = kind;
    if (std::ranges::equal(LockOwnerText(owner).bytes(), text)) return owner;
  }
  return std::nullopt;
}

}  // namespace nfsrdma::client
