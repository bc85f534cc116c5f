#include "client/files/locked_io.h"

#include <algorithm>
#include <utility>

namespace nfsrdma::client {
namespace {

/// The delegation's stateid while there is one that covers the open, else the lock's, else the
/// open's (RFC 8881 section 8.2.5). A lock that was given back meanwhile is no reason to fail.
class LockedIo final : public StateHolder {
 public:
  LockedIo(OpenFileRef file, FileLocks::LockRef lock)
      : file_(std::move(file)), lock_(std::move(lock)) {}

  nfs4::stateid4 stateid() const override {
    return by_lock() ? lock_->stateid() : file_->stateid();
  }
  // A lost lock counts under a delegation, too: another client may have changed the data before.
  bool lost() const override {
    if (!lock_->any_lost()) return file_->lost();
    lock_->loss_reported = true;
    return true;
  }
  bool recovering() const override { return file_->recovering() || lock_->recovering(); }
  void on_refused(nfs4::nfsstat4 status) override {
    if (by_lock()) {
      lock_->on_refused(status);
    } else {
      file_->on_refused(status);
    }
  }

 private:
  bool by_lock() const { return lock_->established && !file_->uses_delegation(); }

  const OpenFileRef file_;
  const FileLocks::LockRef lock_;
};

enum Claim : int { kNone = 0, kPerhaps = 1, kCertainly = 2 };

/// How certain it is that the caller of the I/O owns the lock.
int claim_on(const LockState& lock, const IoBy& by, bool covers) {
  if (lock.owner.kind == LockKind::flock) {
    return by.description != 0 && lock.owner.id == by.description ? kCertainly : kNone;
  }
  if (by.owner != 0 && lock.owner.id == by.owner) return kCertainly;
  const bool taken_through = std::ranges::find(by.lockers, lock.owner.id) != by.lockers.end();
  // The kernel has named the process, so only locks of the open file description remain possible.
  if (by.owner != 0) return taken_through && covers ? kPerhaps : kNone;
  if (by.pid == 0) return covers ? kPerhaps : kNone;
  return taken_through || lock.pid == by.pid ? kCertainly : kNone;
}

}  // namespace

FileLocks::LockRef lock_for_io(const FileLocks& locks, const IoBy& by) {
  constexpr int kLost = 8;
  FileLocks::LockRef best;
  int best_rank = 0;
  for (const FileLocks::LockRef& lock : locks.all()) {
    if (lock->ranges.empty() && !lock->any_lost()) continue;
    const bool covers = lock->ranges.overlaps(by.range) || lock->lost_ranges.overlaps(by.range);
    const int claim = claim_on(*lock, by, covers);
    if (claim == kNone) continue;
    const int rank = 2 * claim + (covers ? 1 : 0) + (lock->any_lost() ? kLost : 0);
    if (rank <= best_rank) continue;
    best = lock;
    best_rank = rank;
  }
  return best;
}

StateRef io_state(const OpenFileRef& file, const FileLocks::LockRef& lock) {
  if (!lock) return file;
  return std::make_shared<LockedIo>(file, lock);
}

}  // namespace nfsrdma::client
