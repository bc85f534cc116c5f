// fcntl(2) and flock(2) locks of files that are open here.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "cache/write/write_back.h"
#include "client/files/lock.h"
#include "transport/base/sync/wait_queue.h"

namespace nfsrdma::cache {

/// The caller of a lock request that may have to wait.
class LockCaller {
 public:
  /// The caller got a signal: it waits no longer. During any part of lock().
  void interrupt() {
    interrupted_ = true;
    if (wait_) wait_->cancel();
  }
  bool interrupted() const { return interrupted_; }

 private:
  friend class LockPause;
  WaitQueue::Wait* wait_ = nullptr;
  bool interrupted_ = false;
};

/// `owner` is done with the file: as long as this exists, lock() with the same owner, whose number
/// may be another's by now, waits. To be made as soon as the kernel has told; release_locks()
/// takes it.
class Departure {
 public:
  Departure(std::shared_ptr<OpenInode> open, client::LockOwner owner);
  Departure(Departure&& other) noexcept = default;
  Departure& operator=(Departure&&) = delete;
  ~Departure();

  const std::shared_ptr<OpenInode>& open() const { return open_; }
  const client::LockOwner& owner() const { return owner_; }

 private:
  std::shared_ptr<OpenInode> open_;  // null: moved from
  client::LockOwner owner_;
};

/// The locks of the file are kept by this mount alone while it has the write delegation: no other
/// client sees data written under them, or writes (RFC 8881 section 10.4.2).
bool locked_here(client::Mount& mount, const client::FileHandle& file);
/// Asks for a lock through `file`, once or, if `wanted` says so, until it is granted; a waiting
/// caller holds no slot. Data written before is at the server when it returns, unless
/// locked_here(). EINTR: the caller was interrupted while it waited, or the mount ends.
Task<Result<client::LockGrant>> lock(WriteBack& writes, FileRef file, client::WantedLock wanted,
                                     LockCaller& caller);
/// After a lock was granted: fetches the attributes, so that what others wrote before it is seen
/// from now on. False when that failed: nothing is known of the file.
Task<bool> see_changes(WriteBack& writes, FileRef file);
/// The lock that conflicts with `wanted`, if any.
Task<Result<std::optional<client::LockConflict>>> test_lock(client::Mount& mount, FileRef file,
                                                            client::WantedLock wanted);
/// Unlocks the range for `owner`, through any of the inode's open files. First makes
/// durable what was written to the file, unless locked_here(): what is still to be sent, or
/// is sent again after a reboot of the server, would go over data of the next holder.
Task<Result<void>> unlock(WriteBack& writes, FileRef file, client::LockOwner owner,
                          client::ByteRange range);
/// Nobody takes the lock that was granted through `file`, which may be closed by now
/// (client::take_back_lock). Failures are logged.
Task<void> take_back_lock(WriteBack& writes, FileRef file, client::LockGrant grant);
/// Gives back all that the owner has locked of the file. Failures are logged: there is no caller to
/// tell. False when the server had revoked a lock and no caller had been told.
Task<bool> release_locks(WriteBack& writes, Departure leaving);
/// The owners that leave with `file`, which no program has any more: `flock_owner`, and open file
/// descriptions that have locked through it (F_OFD_SETLK). An owner that has locked through another
/// open file is that one's: the kernel may tell of a close after it has reused the number.
std::vector<Departure> departures(File& file, std::uint64_t flock_owner);
/// Whether `owner` has anything to be released. Forgets one that has nothing, and asks for nothing.
bool may_hold_locks(OpenInode& open, const client::LockOwner& owner);

}  // namespace nfsrdma::cache
