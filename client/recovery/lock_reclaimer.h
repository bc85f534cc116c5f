// Gets back the locks on an open that has just been reclaimed (RFC 8881 section 8.4.2.1).
#pragma once

#include "client/files/files.h"
#include "client/state/open_file.h"
#include "transport/rpc/channel.h"

namespace nfsrdma::client {

/// Part of OpenReclaimer's step, because locks depend on opens. A lock that the server refuses is
/// lost, because another client may have changed the data it protects, and reads and writes of its
/// owner fail (EIO), as with the Linux kernel's recover_lost_locks=0. The open itself stays.
class LockReclaimer {
 public:
  explicit LockReclaimer(Files& files) : files_(files) {}

  /// LOCK with `reclaim` for every range, on this connection. Repeats after DELAY and GRACE for as
  /// long as a lease; any other refusal loses the lock. Returns an error when connection or session
  /// are gone. Locks kept here under a delegation need no reclaim if the delegation has come back,
  /// unless it is being returned: the request of each of them would wait for the end of the grace
  /// period. If it has not, they are reclaimed like the others: no other client could lock the file
  /// before the restart, or has since.
  Task<Result<void>> reclaim(rpc::Channel& channel, OpenFileRef file);

 private:
  using LockRef = FileLocks::LockRef;

  Task<Result<void>> reclaim_one(rpc::Channel& channel, OpenFileRef file, LockRef lock,
                                 LockedRange range);
  Task<Result<void>> ask(rpc::Channel& channel, OpenFileRef file, LockRef lock, LockedRange range);

  Files& files_;
};

}  // namespace nfsrdma::client
