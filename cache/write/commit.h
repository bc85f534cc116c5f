// Making written data durable: COMMIT, sending lost data again, and doing so early when the memory
// for uncommitted data fills up.
#pragma once

#include "cache/write/write_back.h"

namespace nfsrdma::cache {

/// What a COMMIT asks for besides.
enum class CommitAsks : bool { nothing, attributes };

/// Makes durable all data written to the file on this mount before the call. Failures are recorded
/// in the file's errors. Returns when nothing more can be done.
Task<void> commit_file(WriteBack& writes, FileRef file, CommitAsks asks = CommitAsks::nothing);

/// Where the server may have lost uncommitted data of the file, has them sent again: until then who
/// reads the file, its size or its end at the server misses what write(2) has accepted.
Task<void> restore_lost(WriteBack& writes, std::shared_ptr<OpenInode> open);

/// Begins to commit files, those first that have waited longest, until there is room again: one
/// after the other, and when memory is full some side by side. Does nothing while enough of that is
/// under way.
void relieve(WriteBack& writes);

}  // namespace nfsrdma::cache
