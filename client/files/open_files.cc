#include "client/files/open_files.h"

#include <optional>
#include <utility>

#include "client/requests/delegreturn.h"
#include "client/requests/lock.h"
#include "client/requests/open.h"
#include "client/requests/open_downgrade.h"
#include "client/requests/steps.h"
#include "client/session/request_context.h"
#include "transport/base/log.h"

namespace nfsrdma::client {
namespace {

/// Times that CLOSE waits in vain for the reply of an OPEN that made its stateid old.
constexpr int kMaxOldStateids = 10;
/// Times that the delegation may get another stateid while an open is claimed under it.
constexpr int kMaxClaims = 10;

/// The stateid of a CLOSE or OPEN_DOWNGRADE that was in flight when the server lost its state.
bool forgotten_by_server(const Error& error) {
  return error.is(Layer::nfs, nfs4::NFS4ERR_BAD_STATEID) ||
         error.is(Layer::nfs, nfs4::NFS4ERR_STALE_STATEID) ||
         error.is(Layer::nfs, nfs4::NFS4ERR_EXPIRED) ||
         error.is(Layer::nfs, nfs4::NFS4ERR_ADMIN_REVOKED);
}

}  // namespace

OpenRef OpenFiles::merge(const Credential& caller, const FileHandle& handle,
                         std::uint32_t share_access, const nfs4::stateid4& stateid) {
  return OpenRef(*this, table_.merge(caller, handle, share_access, stateid), caller,
                 share_access & nfs4::OPEN4_SHARE_ACCESS_BOTH);
}

OpenRef OpenFiles::open_locally(const Credential& caller, const FileHandle& handle, OpenFor use) {
  const std::uint32_t access = use.share_access;
  const DelegationRef delegation = delegations_.held(handle);
  if (closed_ || !delegation || !delegation->covers(access)) return {};
  if (!context_.session.lease_holds()) return {};  // the server is asked
  if (!delegation->allows(caller, use.to_execute ? Delegation::kExecutes : access)) return {};
  const OpenFileRef known = table_.find(caller.uid, handle);
  if (known && (known->lost() || known->recovering())) return {};
  const OpenFileRef file = table_.obtain(caller, handle);
  // Accesses that the delegation does not cover stay with the open that the server knows.
  const bool together = delegation->covers(file->share_access() | access);
  if (!together && (file->narrowing() || (access & ~file->server_access()) != 0)) return {};
  OpenTable::attach(*file, delegation);
  file->set_fileid(delegation->fileid());
  file->add_reference(access, caller);
  delegations_.touch(*delegation);
  delegations_.count_local_open();
  return OpenRef(*this, file, caller, access);
}

Task<Result<void>> OpenFiles::close(OpenRef open) {
  if (!open) co_return Result<void>{};
  OpenFileRef file = std::exchange(open.file_, nullptr);
  file->drop_reference(open.share_access_);
  if (file->references() == 0) file->locks().clear_local();
  if (file->delegation()) delegations_.touch(*file->delegation());
  if (closed_) co_return Result<void>{};
  // No program waits: RELEASE comes behind close(2).
  auto done = co_await narrow(file, net::Pace::unhurried);
  co_return done;
}

void OpenFiles::close_in_background(OpenRef open) {
  if (closed_) {
    open.file_.reset();
    return;
  }
  context_.session.background().start(close_quietly(std::move(open)));
}

Task<void> OpenFiles::close_quietly(OpenRef open) {
  const std::uint64_t fileid = open ? open->fileid() : 0;  // close() takes the open
  auto closed = co_await close(std::move(open));
  if (!closed) log::warning("closing inode {}: {}", fileid, closed.error().message());
}

Task<void> OpenFiles::narrow_quietly(OpenFileRef file) {
  auto done = co_await narrow(std::move(file));
  if (!done) log::debug("{}", done.error().message());
}

Task<Result<void>> OpenFiles::narrow(OpenFileRef file, net::Pace pace) {
  auto locked = co_await file->changing().lock();
  std::optional<AsyncMutex::Guard> guard(std::move(locked));
  Backoff backoff;
  for (int tries = 0;;) {
    const std::uint32_t needed = file->share_access();
    if (file->lost() || (file->server_access() & ~needed) == 0) break;
    if (file->held_by_delegation()) co_return Result<void>{};
    if (file->opening()) {
      // The server may put the OPEN off until it has a delegation back, whose return claims opens.
      guard.reset();
      co_await file->crossing();
      auto again = co_await file->changing().lock();
      guard.emplace(std::move(again));
      continue;  // its access may be needed
    }
    // OPEN_DOWNGRADE goes only to what an OPEN has asked for (RFC 8881 section 18.18.3): else the
    // server answers NFS4ERR_INVAL, and goes on keeping the file from those who deny this access.
    const DelegationRef& delegation = file->delegation();
    const bool delegated = delegation && delegation->covers(needed);
    if (needed != 0 && delegated && file->unclaimed() != 0) {
      auto claimed = co_await claim_each(file);
      CO_TRY(claimed);
      continue;
    }
    const nfs4::stateid4 before = file->newest_stateid();
    auto done = co_await narrow_once(file, needed, pace);
    if (done) continue;
    if (forgotten_by_server(done.error())) {
      if (file->newest_stateid().other != before.other && tries++ < kMaxOldStateids) continue;
      // Nothing is left to close; opens still in use are recovered.
      if (file->references() == 0) file->closed();
      break;
    }
    const bool old = done.error().is(Layer::nfs, nfs4::NFS4ERR_OLD_STATEID);
    if (!old || tries == kMaxOldStateids) {
      if (file->references() == 0) file->closed();  // nothing more can be done for it
      table_.forget_if_unused(file);
      co_return done;
    }
    old_stateids_.add();
    if (file->newest_stateid() != before) continue;
    const bool merged = co_await merged_within(file, backoff.next());
    if (context_.session.pauses().interrupted()) co_return done;
    if (!merged) ++tries;
  }
  table_.forget_if_unused(file);
  co_return Result<void>{};
}

Task<bool> OpenFiles::merged_within(OpenFileRef file, Duration longest) {
  Pauses::Pause until_merged(context_.session.pauses(), longest);
  file->set_until_merged(&until_merged);
  co_await until_merged;
  file->set_until_merged(nullptr);
  co_return until_merged.was_cut_short();
}

Task<Result<void>> OpenFiles::narrow_once(OpenFileRef file, std::uint32_t needed, net::Pace pace) {
  file->begin_narrowing();
  auto sent = needed == 0 ? send_close(file, pace) : send_downgrade(file, needed);
  auto done = co_await sent;
  file->end_narrowing();
  co_return done;
}

Task<Result<void>> OpenFiles::send_close(OpenFileRef file, net::Pace pace) {
  const nfs4::stateid4 closing = file->newest_stateid();
  auto closed =
      co_await client::send_close(context_, file->caller(), file->handle(), closing, pace);
  if (!closed.stateid && closed.stateid.error().is(Layer::nfs, nfs4::NFS4ERR_LOCKS_HELD)) {
    co_await unlock_all(file);
    auto again =
        co_await client::send_close(context_, file->caller(), file->handle(), closing, pace);
    closed = std::move(again);
  }
  co_return note_closed(*file, closing, closed);
}

// RFC 8881 section 18.2.3: a server may refuse to close what has locks, such as one that was
// granted when its owner had gone. It is not waited for requests of the owner: they may wait for
// the CLOSE.
Task<void> OpenFiles::unlock_all(OpenFileRef file) {
  const auto held = file->locks().all();
  const std::vector<FileLocks::LockRef> locks(held.begin(), held.end());
  for (const FileLocks::LockRef& lock : locks) {
    if (!lock->established) continue;
    const nfs4::stateid4 stateid = lock->stateid();
    auto unlocked =
        co_await locku(context_, lock->caller, file->handle(), stateid, ByteRange::whole_file());
    if (!unlocked) log::debug("before CLOSE: {}", unlocked.error().message());
  }
}

// An OPEN that the server did after this CLOSE may have been merged already: that one is alive.
// One with the same stateid went with it.
Result<void> OpenFiles::note_closed(OpenFile& file, const nfs4::stateid4& closing,
                                    const Narrowed& closed) {
  if (closed.outdated_itself) file.outdate_stateid();
  TRY(closed.stateid);
  closes_.add();
  if (file.newest_stateid().other == closing.other) {
    table_.lose_locks(file, "the server has closed it");
    file.closed();
    if (file.claim() != OpenFile::Claim::none) context_.session.state_refused();
  }
  return {};
}

// It waits for no OPEN of the file: the server may put that off until it has the delegation back.
Task<bool> OpenFiles::close_with(DelegationRef delegation, OpenFileRef file) {
  const bool free = file->references() == 0 && !file->opening() && !file->changing().held();
  const bool sound = !file->lost() && !file->recovering() && !delegation->lost();
  if (!free || !sound || file->server_access() == 0) co_return false;
  auto guard = co_await file->changing().lock();
  const nfs4::stateid4 closing = file->newest_stateid();
  file->begin_narrowing();
  auto returned = co_await delegreturn_and_close(context_, file->caller(), file->handle(),
                                                 delegation->stateid(), closing);
  file->end_narrowing();
  if (!returned) co_return false;
  auto closed = note_closed(*file, closing, *returned);
  if (!closed) log::debug("{}", closed.error().message());  // narrow() goes on with it
  co_return true;
}

Task<Result<void>> OpenFiles::send_downgrade(OpenFileRef file, std::uint32_t needed) {
  auto done = co_await open_downgrade(context_, file->caller(), file->handle(),
                                      file->newest_stateid(), needed);
  if (done.outdated_itself) file->outdate_stateid();
  CO_TRY(done.stateid);
  downgrades_.add();
  file->downgraded(*done.stateid, needed);
  co_return Result<void>{};
}

Task<Result<void>> OpenFiles::claim(OpenFileRef file) {
  auto guard = co_await file->changing().lock();
  auto claimed = co_await claim_each(file);
  co_return claimed;
}

Task<Result<void>> OpenFiles::claim_each(OpenFileRef file) {
  for (int claims = 0; !file->lost() && file->delegation() && !file->claimed();) {
    if (file->recovering()) {
      const bool slept = co_await context_.session.pauses().pause(Backoff::kFirst);
      if (!slept) co_return fail(steps::ending());
      continue;
    }
    const nfs4::stateid4 used = file->delegation()->stateid();
    auto claimed = co_await claim(file, file->unclaimed());
    const bool changed = file->delegation() && file->delegation()->stateid() != used;
    // When the delegation is gone, recovery reopens the file.
    const bool again = !file->delegation() || (changed && ++claims < kMaxClaims);
    if (!claimed && !again) co_return claimed;
  }
  co_return Result<void>{};
}

Task<Result<void>> OpenFiles::claim(OpenFileRef file, std::uint32_t share_access) {
  OpenRequest request;
  request.object = file->handle();
  request.share_access = share_access;
  request.claim = nfs4::CLAIM_DELEG_CUR_FH;
  request.delegation = file->delegation()->stateid();
  Sending sending;
  sending.patience = context_.lease_time();
  auto opened = co_await send_claim(context_, file->opener(share_access), request, sending);
  CO_TRY(opened);
  claims_.add();
  file->opened(opened->stateid, share_access);
  co_return Result<void>{};
}

std::vector<OpenFileRef> OpenFiles::detach(const Delegation& delegation) {
  auto detached = table_.detach(delegation);
  if (detached.reopen) context_.session.state_refused();
  return std::move(detached.files);
}

Task<Result<void>> OpenFiles::close_all() {
  closed_ = true;
  Result<void> outcome;
  for (OpenFileRef file = table_.take_out(); file; file = table_.take_out()) {
    file->drop_references();
    auto done = co_await narrow(file);
    if (!done && outcome) outcome = std::move(done);
  }
  co_return outcome;
}

void OpenFiles::visit_counters(CounterVisitor& visitor) const {
  visitor.visit("closes", closes_.value());
  visitor.visit("open_downgrades", downgrades_.value());
  visitor.visit("open_old_stateids", old_stateids_.value());
  visitor.visit("open_claims", claims_.value());
}

}  // namespace nfsrdma::client
