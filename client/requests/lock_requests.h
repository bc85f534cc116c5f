// LOCK, LOCKU, LOCKT and FREE_STATEID, one request each: for the operations of lock.h and for
// recovery.
#pragma once

#include <optional>

#include "client/files/lock.h"

namespace nfsrdma::client {

class Compound;
class CompoundReader;

/// Behind PUTFH: LOCK in the name of the owner's stateid, or, while he has none, of the open's.
void add_lock(const Mount& mount, Compound& compound, const OpenFileRef& file,
              const FileLocks::LockRef& lock, const LockWish& wish, bool reclaim);
/// What its results say.
Result<void> take_lock(CompoundReader& results, LockState& lock);

/// Asks the server. Whether the owner had a stateid decides how: where a recovery has changed that
/// meanwhile the answer is an error, and the question is to be asked anew. DELAY and GRACE are
/// waited for until `patience` has passed.
Task<Result<void>> send_lock(Mount& mount, OpenFileRef file, FileLocks::LockRef lock, LockWish wish,
                             Duration patience);
/// The same for as long as that is worth while, on an open that the server knows. One request of an
/// owner at a time.
Task<Result<void>> lock_at_server(Mount& mount, OpenFileRef file, FileLocks::LockRef lock,
                                  LockWish wish, Duration patience);
Task<Result<void>> send_unlock(Mount& mount, OpenFileRef file, FileLocks::LockRef lock,
                               ByteRange range);
/// The server may forget the owner, who has nothing locked.
Task<Result<void>> send_free(Mount& mount, OpenFileRef file, FileLocks::LockRef lock);
Task<Result<std::optional<LockConflict>>> send_test(Mount& mount, OpenFileRef file, LockWish wish);

}  // namespace nfsrdma::client
