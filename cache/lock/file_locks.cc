#include "cache/lock/file_locks.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "client/files/local_lock.h"
#include "client/requests/getattr.h"
#include "transport/base/log.h"

namespace nfsrdma::cache {
namespace {

using LockedFiles = std::vector<client::OpenFileRef>;

/// Open files of the inode through which the owner has locked: more than one when users differ.
LockedFiles locked_by(OpenInode& open, const client::LockOwner& owner) {
  LockedFiles found;
  open.files.for_each([&](File& file) {
    const client::OpenFileRef& ref = file.open.file();
    if (!ref || !ref->locks().find(owner)) return;
    if (std::find(found.begin(), found.end(), ref) == found.end()) found.push_back(ref);
  });
  return found;
}

Task<void> send_before_unlock(WriteBack& writes, std::shared_ptr<OpenInode> open,
                              LockedFiles files) {
  if (!files.empty() && !locked_here(writes.mount(), files.front()->handle())) {
    co_await writes.behind().flush(open);
  }
}

}  // namespace

bool locked_here(client::Mount& mount, const client::FileHandle& file) {
  return client::lock_keeper(mount, file) == client::LockKeeper::client;
}

bool may_hold_locks(OpenInode& open, const client::LockOwner& owner) {
  return !locked_by(open, owner).empty();
}

Task<Result<void>> unlock_everywhere(WriteBack& writes, std::shared_ptr<OpenInode> open,
                                     client::LockOwner owner, client::ByteRange range) {
  const auto files = locked_by(*open, owner);
  co_await send_before_unlock(writes, open, files);
  Result<void> outcome;
  for (const client::OpenFileRef& file : files) {
    auto unlocked = co_await client::unlock(writes.mount(), file, owner, range);
    if (!unlocked && outcome) outcome = std::move(unlocked);
  }
  co_return outcome;
}

Task<bool> release_locks(WriteBack& writes, std::shared_ptr<OpenInode> open,
                         client::LockOwner owner) {
  if (!may_hold_locks(*open, owner)) co_return true;
  bool kept = true;
  const auto files = locked_by(*open, owner);
  co_await send_before_unlock(writes, open, files);
  for (const client::OpenFileRef& file : files) {
    auto released = co_await client::unlock_all(writes.mount(), file, owner);
    if (released) continue;
    log::warning("releasing locks: {}", released.error().message());
    kept = kept && !released.error().is(Layer::nfs, nfs4::NFS4ERR_EXPIRED);
  }
  co_return kept;
}

Task<void> release_description_locks(WriteBack& writes, FileRef file) {
  for (const std::uint64_t owner : std::exchange(file->lockers, {})) {
    co_await release_locks(writes, file->shared, {client::LockKind::posix, owner});
  }
}

}  // namespace nfsrdma::cache
