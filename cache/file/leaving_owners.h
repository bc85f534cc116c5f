// Lock owners that are done with a file and whose locks on it are being given back.
#pragma once

#include <algorithm>
#include <vector>

#include "client/requests/lock_owner.h"
#include "transport/base/sync/wait_queue.h"

namespace nfsrdma::cache {

/// The kernel's numbers of lock owners are addresses, of open files and of processes: the next one
/// may have the same number while the locks of the one before are still being given back, and must
/// lock after that. Of one file. Belongs to one shard.
class LeavingOwners {
 public:
  explicit LeavingOwners(Reactor& reactor) : gone_(reactor) {}

  /// `owner` begins to leave; once for each remove().
  void add(const client::LockOwner& owner) { owners_.push_back(owner); }
  void remove(const client::LockOwner& owner) {
    const auto place = std::ranges::find(owners_, owner);
    if (place != owners_.end()) owners_.erase(place);
    gone_.wake_all();
  }
  bool contains(const client::LockOwner& owner) const {
    return std::ranges::find(owners_, owner) != owners_.end();
  }
  /// `co_await leaving.wait()` ends when the next of them has gone.
  WaitQueue::Wait wait() { return gone_.wait(); }

 private:
  std::vector<client::LockOwner> owners_;  // each as often as it leaves
  WaitQueue gone_;
};

}  // namespace nfsrdma::cache
