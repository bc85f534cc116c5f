// Lock owners that have something to do with a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <unordered_map>

#include "client/requests/lock_owner.h"

namespace nfsrdma::cache {

/// Of one file. Each close(2) is about an owner, and most owners have never locked the file: they
/// are not here, so that nobody looks for them at each of the file's opens, of which there may be
/// thousands. Belongs to one shard.
class LockingOwners {
 public:
  /// A request of the owner for a lock.
  class Asking {
   public:
    Asking(LockingOwners& owners, const client::LockOwner& owner) : owners_(owners), owner_(owner) {
      ++owners_.owners_[owner_];
    }
    Asking(const Asking&) = delete;
    Asking& operator=(const Asking&) = delete;
    /// The owner stays until it is removed.
    ~Asking() { --owners_.owners_[owner_]; }

   private:
    LockingOwners& owners_;
    const client::LockOwner owner_;
  };

  void add(const client::LockOwner& owner) { owners_.try_emplace(owner); }
  /// False when it was not there, or has a request under way.
  bool remove(const client::LockOwner& owner) {
    const auto found = owners_.find(owner);
    if (found == owners_.end() || found->second > 0) return false;
    owners_.erase(found);
    return true;
  }
  bool contains(const client::LockOwner& owner) const { return owners_.contains(owner); }
  std::size_t size() const { return owners_.size(); }

 private:
  struct Hash {
    std::size_t operator()(const client::LockOwner& owner) const {
      return std::hash<std::uint64_t>{}(owner.id) ^ static_cast<std::size_t>(owner.kind);
    }
  };
  std::unordered_map<client::LockOwner, std::size_t, Hash> owners_;  ///< requests under way
};

}  // namespace nfsrdma::cache
