#include "client/state/open_table.h"

#include <algorithm>
#include <utility>

#include "transport/base/log.h"

namespace nfsrdma::client {

OpenFileRef OpenTable::find(std::uint32_t uid, const FileHandle& handle) const {
  const auto [begin, end] = files_.equal_range(handle);
  const auto place = std::find_if(
      begin, end, [uid](const auto& entry) { return entry.second->caller().uid == uid; });
  return place == end ? nullptr : place->second;
}

OpenFileRef OpenTable::obtain(const Credential& caller, const FileHandle& handle) {
  OpenFileRef file = find(caller.uid, handle);
  if (!file) {
    file = std::make_shared<OpenFile>(reactor_, handle, caller);
    files_.emplace(handle, file);
  }
  return file;
}

void OpenTable::forget(const OpenFile& file) {
  const auto [begin, end] = files_.equal_range(file.handle());
  const auto place =
      std::find_if(begin, end, [&file](const auto& entry) { return entry.second.get() == &file; });
  if (place != end) files_.erase(place);
}

OpenFileRef OpenTable::merge(const Credential& caller, const FileHandle& handle,
                             std::uint32_t share_access, const nfs4::stateid4& stateid) {
  opens_.add();
  OpenFileRef file = obtain(caller, handle);
  const bool other = file->newest_.other != stateid.other;
  if (other && file->server_access_ != 0) lose_locks(*file, "the server has opened it anew");
  file->opened(stateid, share_access);
  // Nobody had it open when the recovery began, which passed it by: what it had to get back is
  // here.
  if (file->references() == 0) file->recovered();
  file->add_reference(share_access & nfs4::OPEN4_SHARE_ACCESS_BOTH, caller);
  if (file->until_merged_) file->until_merged_->cut_short();
  return file;
}

Task<OpenTable::Opening> OpenTable::begin_open(Credential caller, FileHandle handle) {
  return begin_open(obtain(caller, handle));
}

// An OPEN that waits counts already: the file stays, and the next CLOSE comes after it.
Task<OpenTable::Opening> OpenTable::begin_open(OpenFileRef file) {
  ++file->opening_;
  Opening opening(*this, file);
  while (file->narrowing_) co_await file->crossing();
  co_return opening;
}

void OpenTable::Opening::end() {
  const OpenFileRef file = std::exchange(file_, nullptr);
  if (!file) return;
  if (--file->opening_ == 0) file->crossing_.wake_all();
  table_->forget_if_unused(file);
}

void OpenTable::attach(OpenFile& file, const DelegationRef& delegation) {
  if (file.delegation_ == delegation) return;
  file.unlink();
  file.delegation_ = delegation;
  delegation->add(file);
}

OpenTable::Detached OpenTable::detach(const Delegation& delegation) {
  Detached detached;
  delegation.for_each_file([&](OpenFile& file) {
    detached.files.push_back(file.shared_from_this());
    file.unlink();
    file.delegation_.reset();
  });
  for (const OpenFileRef& file : detached.files) {
    const bool all_known = file->claimed() && !file->locks().any_local();
    const bool unknown = !all_known && !file->lost_ && !file->recovering();
    if (unknown) file->claim_ = OpenFile::Claim::anew;
    detached.reopen = detached.reopen || unknown;
    // Before a new delegation comes, under which they would seem to be held.
    const bool reclaimed_later = file->claim_ == OpenFile::Claim::previous;
    if (delegation.lost() && !reclaimed_later) lose_local_locks(*file);
    forget_if_unused(file);
  }
  return detached;
}

void OpenTable::forget_if_unused(const OpenFileRef& file) {
  if (file->references() > 0 || file->server_access_ != 0 || file->opening()) return;
  forget(*file);
}

void OpenTable::forget_delegated() {
  for (auto place = files_.begin(); place != files_.end();) {
    OpenFile& file = *place->second;
    const bool kept = file.references() == 0 && file.delegation_;
    if (kept) file.closed();
    place = kept ? files_.erase(place) : std::next(place);
  }
}

OpenFileRef OpenTable::take_out() {
  if (files_.empty()) return nullptr;
  return std::move(files_.extract(files_.begin()).mapped());
}

std::vector<OpenFileRef> OpenTable::in_use() const {
  std::vector<OpenFileRef> files;
  for (const auto& [handle, file] : files_) {
    if (file->references() > 0 && !file->lost_) files.push_back(file);
  }
  return files;
}

void OpenTable::lose_locks(OpenFile& file, const std::string& why) {
  if (file.references() == 0) return file.locks_.clear();  // their owners are gone
  const auto all = file.locks_.all();
  const std::vector<FileLocks::LockRef> locks(all.begin(), all.end());
  for (const FileLocks::LockRef& lock : locks) lose_locks(*lock, why);
}

void OpenTable::lose_local_locks(OpenFile& file) {
  for (const FileLocks::LockRef& lock : file.locks_.all()) {
    if (!lock->at_server && !lock->ranges.empty()) lose_locks(*lock, "with the delegation");
  }
}

void OpenTable::lose_locks(LockState& lock, const std::string& why) {
  const bool held = lock.take_away();
  if (!held) return;
  locks_lost_.add();
  log::error(
      "the {} locks of process {} on inode {} are lost, its reads and writes of the file get EIO "
      "until it unlocks or closes it: {}",
      lock.owner.kind == LockKind::posix ? "fcntl" : "flock", lock.pid, lock.file.fileid(), why);
}

void OpenTable::give_up(OpenFile& file, const std::string& why) {
  log::error("the open file of inode {} is lost, its users get EIO: {}", file.fileid_, why);
  file.lost_ = true;
  file.locks_.clear();
  file.claim_ = OpenFile::Claim::none;
  file.unlink();
  file.delegation_.reset();
  lost_.add();
  forget(file);  // the next open of the file starts afresh
}

void OpenTable::visit_counters(CounterVisitor& visitor) const {
  visitor.visit("opens", opens_.value());
  visitor.visit("opens_lost", lost_.value());
  visitor.visit("locks_lost", locks_lost_.value());
  visitor.visit("open_files", files_.size());
}

}  // namespace nfsrdma::client
