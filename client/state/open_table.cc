#include "client/state/open_table.h"

#include <algorithm>
#include <utility>

#include "client/mount.h"
#include "client/requests/open_downgrade.h"
#include "client/session/session.h"
#include "client/state/delegation_table.h"
#include "transport/base/log.h"

namespace nfsrdma::client {
namespace {

/// Times that CLOSE waits in vain for the reply of an OPEN that made its stateid old.
constexpr int kMaxOldStateids = 10;

bool newer(std::uint32_t seqid, std::uint32_t than) {
  return static_cast<std::int32_t>(seqid - than) > 0;
}

}  // namespace

OpenFileRef OpenTable::find(std::uint32_t uid, const FileHandle& handle) const {
  const auto [begin, end] = files_.equal_range(handle);
  const auto place = std::find_if(
      begin, end, [uid](const auto& entry) { return entry.second->caller_.uid == uid; });
  return place == end ? nullptr : place->second;
}

OpenFileRef OpenTable::obtain(const Credential& caller, const FileHandle& handle) {
  FileRef file = find(caller.uid, handle);
  if (!file) {
    file = std::make_shared<OpenFile>(mount_.reactor(), handle, caller);
    files_.emplace(handle, file);
  }
  return file;
}

void OpenTable::forget(const OpenFile& file) {
  const auto [begin, end] = files_.equal_range(file.handle_);
  const auto place =
      std::find_if(begin, end, [&file](const auto& entry) { return entry.second.get() == &file; });
  if (place != end) files_.erase(place);
}

OpenRef OpenTable::merge(const Credential& caller, const FileHandle& handle,
                         std::uint32_t share_access, const nfs4::stateid4& stateid) {
  opens_.add();
  const FileRef file = obtain(caller, handle);
  const bool other = file->newest_.other != stateid.other;
  if (other && file->server_access_ != 0) lose_locks(*file, "the server has opened it anew");
  take(*file, stateid, share_access);
  ++file->counts_[share_access & nfs4::OPEN4_SHARE_ACCESS_BOTH];
  if (file->until_merged_) file->until_merged_->cut_short();
  return OpenRef(*this, file, share_access & nfs4::OPEN4_SHARE_ACCESS_BOTH);
}

void OpenTable::take(OpenFile& file, const nfs4::stateid4& stateid, std::uint32_t share_access) {
  if (file.newest_.other != stateid.other) {
    file.newest_ = stateid;
    file.server_access_ = share_access;
    file.opened_with_ = 1U << share_access;
    return;
  }
  if (newer(stateid.seqid, file.newest_.seqid)) file.newest_ = stateid;
  file.server_access_ |= share_access;
  file.opened_with_ |= 1U << share_access;
}

Task<Result<void>> OpenTable::release(OpenRef open) {
  if (!open) co_return Result<void>{};
  FileRef file = std::exchange(open.file_, nullptr);
  --file->counts_[open.share_access_];
  if (file->references() == 0) file->locks_.clear_local();
  if (file->delegation_) mount_.delegations().touch(*file->delegation_);
  if (closed_) co_return Result<void>{};
  auto done = co_await close_or_downgrade(file);
  co_return done;
}

void OpenTable::release_in_background(OpenRef open) {
  if (closed_) {
    open.file_.reset();
    return;
  }
  mount_.session().background().start(release_quietly(std::move(open)));
}

Task<void> OpenTable::release_quietly(OpenRef open) {
  auto released = co_await release(std::move(open));
  if (!released) log::warning("{}", released.error().message());
}

Task<void> OpenTable::close_quietly(OpenFileRef file) {
  auto done = co_await close_or_downgrade(std::move(file));
  if (!done) log::debug("{}", done.error().message());
}

Task<Result<void>> OpenTable::close_or_downgrade(FileRef file) {
  auto guard = co_await file->changing_.lock();
  Backoff backoff;
  for (int tries = 0;;) {
    const std::uint32_t needed = file->share_access();
    if (file->lost_ || (file->server_access_ & ~needed) == 0) break;
    if (file->kept_by_delegation()) co_return Result<void>{};
    if (file->opening_ > 0) {
      co_await file->crossing_.wait();
      continue;  // what it brings may be needed
    }
    const nfs4::stateid4 before = file->newest_;
    auto done = co_await narrow(file, needed);
    if (done) continue;
    if (forgotten_by_server(done.error())) {
      if (file->newest_.other != before.other && tries++ < kMaxOldStateids) continue;
      // Nothing is left to close; what is still in use comes back by recovery.
      if (file->references() == 0) file->forget_opens();
      break;
    }
    const bool old = done.error().is(Layer::nfs, nfs4::NFS4ERR_OLD_STATEID);
    if (!old || tries == kMaxOldStateids) {
      if (file->references() == 0) file->forget_opens();  // nothing more can be done for it
      forget_if_unused(file);
      co_return done;
    }
    old_stateids_.add();
    if (file->newest_ != before) continue;
    Pauses::Pause until_merged(mount_.session().pauses(), backoff.next());
    file->until_merged_ = &until_merged;
    const bool waited = co_await until_merged;
    file->until_merged_ = nullptr;
    if (!waited) co_return done;
    if (!until_merged.was_cut_short()) ++tries;
  }
  forget_if_unused(file);
  co_return Result<void>{};
}

// The stateid of a CLOSE or OPEN_DOWNGRADE that was under way when the server lost its state.
bool OpenTable::forgotten_by_server(const Error& error) {
  return error.is(Layer::nfs, nfs4::NFS4ERR_BAD_STATEID) ||
         error.is(Layer::nfs, nfs4::NFS4ERR_STALE_STATEID) ||
         error.is(Layer::nfs, nfs4::NFS4ERR_EXPIRED) ||
         error.is(Layer::nfs, nfs4::NFS4ERR_ADMIN_REVOKED);
}

Task<Result<void>> OpenTable::send_close(FileRef file) {
  const nfs4::stateid4 closing = file->newest_;
  auto closed = co_await client::send_close(mount_, file->caller_, file->handle_, closing);
  if (closed.outdated_itself) file->newest_.seqid = 0;
  CO_TRY(closed.stateid);
  closes_.add();
  // An OPEN that the server did after this CLOSE may have been merged already: that one is alive.
  // One with the same stateid went with it.
  if (file->newest_.other == closing.other) {
    lose_locks(*file, "the server has closed it");
    file->forget_opens();
    if (file->claim_ != OpenFile::Claim::none) mount_.session().state_refused();
  }
  co_return Result<void>{};
}

Task<Result<void>> OpenTable::send_downgrade(FileRef file, std::uint32_t needed) {
  auto done = co_await open_downgrade(mount_, file->caller_, file->handle_, file->newest_, needed);
  if (done.outdated_itself) file->newest_.seqid = 0;
  CO_TRY(done.stateid);
  downgrades_.add();
  const nfs4::stateid4& after = *done.stateid;
  if (file->newest_.other == after.other && newer(after.seqid, file->newest_.seqid)) {
    file->newest_ = after;
  }
  // References that were merged meanwhile have what they asked for.
  file->server_access_ = needed | file->share_access();
  for (std::uint32_t access = 1; access <= nfs4::OPEN4_SHARE_ACCESS_BOTH; ++access) {
    if ((access & ~file->server_access_) != 0) file->opened_with_ &= ~(1U << access);
  }
  co_return Result<void>{};
}

void OpenTable::forget_kept() {
  for (auto place = files_.begin(); place != files_.end();) {
    OpenFile& file = *place->second;
    const bool kept = file.references() == 0 && file.delegation_;
    if (kept) file.forget_opens();
    place = kept ? files_.erase(place) : std::next(place);
  }
}

void OpenTable::forget_if_unused(const FileRef& file) {
  if (file->references() > 0 || file->server_access_ != 0 || file->opening_ > 0) return;
  forget(*file);
}

Task<Result<void>> OpenTable::close_all() {
  closed_ = true;
  Result<void> outcome;
  while (!files_.empty()) {
    FileRef file = files_.begin()->second;
    files_.erase(files_.begin());
    file->counts_ = {};
    auto done = co_await close_or_downgrade(file);
    if (!done && outcome) outcome = std::move(done);
  }
  co_return outcome;
}

std::vector<std::shared_ptr<OpenFile>> OpenTable::in_use() {
  std::vector<FileRef> files;
  for (const auto& [handle, file] : files_) {
    if (file->references() > 0 && !file->lost_) files.push_back(file);
  }
  return files;
}

void OpenTable::visit_counters(CounterVisitor& visitor) const {
  visitor.visit("opens", opens_.value());
  visitor.visit("closes", closes_.value());
  visitor.visit("open_downgrades", downgrades_.value());
  visitor.visit("open_old_stateids", old_stateids_.value());
  visitor.visit("opens_lost", lost_.value());
  visitor.visit("locks_lost", locks_lost_.value());
  visitor.visit("open_claims", claims_.value());
  visitor.visit("open_files", files_.size());
}

}  // namespace nfsrdma::client
