// Lock owners that have something to do with a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <unordered_set>

#include "client/requests/lock_owner.h"

namespace nfsrdma::cache {

/// Of one file. Each close(2) is about an owner, and most owners have never locked the file: they
/// are not here, so that nobody looks for them at each of the file's opens, of which there may be
/// thousands. Belongs to one shard.
class LockingOwners {
 public:
  void add(const client::LockOwner& owner) { owners_.insert(owner); }
  /// False when it was not there.
  bool remove(const client::LockOwner& owner) { return owners_.erase(owner) > 0; }
  bool contains(const client::LockOwner& owner) const { return owners_.contains(owner); }
  std::size_t size() const { return owners_.size(); }

 private:
  struct Hash {
    std::size_t operator()(const client::LockOwner& owner) const {
      return std::hash<std::uint64_t>{}(owner.id) ^ static_cast<std::size_t>(owner.kind);
    }
  };
  std::unordered_set<client::LockOwner, Hash> owners_;
};

}  // namespace nfsrdma::cache
