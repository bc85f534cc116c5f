#include "cache/file/io_lock.h"

#include <algorithm>

namespace nfsrdma::cache {

void note_locker(File& file, std::uint64_t owner) {
  const auto found = std::find(file.lockers.begin(), file.lockers.end(), owner);
  if (found == file.lockers.end()) file.lockers.push_back(owner);
  file.shared->lockers.add({client::LockKind::posix, owner});
}

void forget_locker(OpenInode& open, std::uint64_t owner) {
  if (!open.lockers.remove({client::LockKind::posix, owner})) return;
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
  lock->loss_reported = true;
  return true;
}

}  // namespace nfsrdma::cache
