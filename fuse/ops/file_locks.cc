#include "fuse/ops/file_locks.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "client/files/local_lock.h"
#include "client/requests/getattr.h"
#include "transport/base/log.h"

namespace nfsrdma::fuse {
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

Task<void> send_before_unlock(FileSystem& fs, std::shared_ptr<OpenInode> open, LockedFiles files) {
  if (!files.empty() && !locked_here(fs, files.front()->handle())) {
    co_await fs.write_behind().flush(open);
  }
}

Task<void> look_at_changes(FileSystem& fs, FileRef file) {
  Inode& inode = *file->inode;
  const cache::Issue issue = fs.issue();
  auto attributes = co_await client::getattr(fs.mount(), file->caller, inode.handle());
  if (attributes) {
    fs.learn(inode, *attributes, issue, ChangedBy::anyone);
  } else {
    inode.attributes().expire();
    inode.forget_pages();
  }
}

}  // namespace

bool locked_here(FileSystem& fs, const client::FileHandle& file) {
  return client::lock_keeper(fs.mount(), file) == client::LockKeeper::client;
}

bool may_hold_locks(OpenInode& open, const client::LockOwner& owner) {
  return !locked_by(open, owner).empty();
}

Task<Result<void>> unlock_everywhere(FileSystem& fs, std::shared_ptr<OpenInode> open,
                                     client::LockOwner owner, client::ByteRange range) {
  const auto files = locked_by(*open, owner);
  co_await send_before_unlock(fs, open, files);
  Result<void> outcome;
  for (const client::OpenFileRef& file : files) {
    auto unlocked = co_await client::unlock(fs.mount(), file, owner, range);
    if (!unlocked && outcome) outcome = std::move(unlocked);
  }
  co_return outcome;
}

Task<bool> release_locks(FileSystem& fs, std::shared_ptr<OpenInode> open, client::LockOwner owner) {
  if (!may_hold_locks(*open, owner)) co_return true;
  bool kept = true;
  const auto files = locked_by(*open, owner);
  co_await send_before_unlock(fs, open, files);
  for (const client::OpenFileRef& file : files) {
    auto released = co_await client::unlock_all(fs.mount(), file, owner);
    if (released) continue;
    log::warning("releasing locks: {}", released.error().message());
    kept = kept && !released.error().is(Layer::nfs, nfs4::NFS4ERR_EXPIRED);
  }
  co_return kept;
}

Task<void> release_description_locks(FileSystem& fs, FileRef file) {
  for (const std::uint64_t owner : std::exchange(file->lockers, {})) {
    co_await release_locks(fs, file->shared, {client::LockKind::posix, owner});
  }
}

void note_locker(File& file, std::uint64_t owner) {
  const auto found = std::find(file.lockers.begin(), file.lockers.end(), owner);
  if (found == file.lockers.end()) file.lockers.push_back(owner);
}

void forget_locker(OpenInode& open, std::uint64_t owner) {
  open.files.for_each([owner](File& file) { std::erase(file.lockers, owner); });
}

client::FileLocks::LockRef lock_for_io(const File& file, IoCaller caller, client::ByteRange range) {
  const client::OpenFileRef& open = file.open.file();
  if (!open || open->locks().empty()) return nullptr;
  return client::lock_for_io(open->locks(),
                             {caller.owner, caller.pid, file.lockers, file.flock_owner, range});
}

client::StateRef io_state(const File& file, const client::FileLocks::LockRef& lock) {
  if (!file.open) return nullptr;  // being closed
  return client::io_state(file.open.file(), lock);
}

client::ByteRange io_range(std::uint64_t offset, std::size_t length) {
  if (length == 0 || length - 1 > client::ByteRange::kEnd - offset) {
    return {offset, client::ByteRange::kEnd};
  }
  return {offset, offset + (length - 1)};
}

bool lost(const client::FileLocks::LockRef& lock) {
  if (!lock || !lock->any_lost()) return false;
  lock->loss_told = true;
  return true;
}

Task<void> see_changes(FileSystem& fs, FileRef file) {
  Inode& inode = *file->inode;
  if (!locked_here(fs, inode.handle()) || !inode.attributes().stands()) {
    co_await look_at_changes(fs, file);
  }
  co_await fs.show_changes(file->inode);
  fs.drop_outdated_attributes(inode);
}

}  // namespace nfsrdma::fuse
