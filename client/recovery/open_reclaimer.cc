#include "client/recovery/open_reclaimer.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "client/recovery/claim_errors.h"
#include "client/recovery/lock_reclaimer.h"
#include "client/requests/delegreturn.h"
#include "client/requests/open.h"
#include "client/requests/steps.h"
#include "transport/base/log.h"

namespace nfsrdma::client {
namespace {

using namespace nfs4;

/// Share accesses, the widest first: most servers then need no OPEN for the accesses it covers.
constexpr std::uint32_t kAccesses[] = {OPEN4_SHARE_ACCESS_BOTH, OPEN4_SHARE_ACCESS_WRITE,
                                       OPEN4_SHARE_ACCESS_READ};
/// The grace period, which an OPEN of a file anew has to wait for, is longer than the lease with
/// some servers (NFS-Ganesha: 90 s and 60 s), and is extended while others reclaim.
constexpr int kGraceLeases = 3;
constexpr Duration kGraceAtLeast = std::chrono::minutes(5);
/// Why an open that may not be tried again is lost.
constexpr const char* kInVain = "it could not be recovered in several attempts, or within a lease";

bool is_revoked(nfsstat4 status) {
  return status == NFS4ERR_ADMIN_REVOKED || status == NFS4ERR_DELEG_REVOKED;
}

/// The server does not give the open back, but lets who still has the file open it anew.
/// RECLAIM_BAD is its answer to all opens where it has no record of its clients; the Linux client
/// goes on from each of them as here.
bool came_to_nothing(const Error& reclaim) {
  return reclaim.is(Layer::nfs, NFS4ERR_NO_GRACE) || reclaim.is(Layer::nfs, NFS4ERR_RECLAIM_BAD) ||
         reclaim.is(Layer::nfs, NFS4ERR_RECLAIM_CONFLICT);
}

bool any_refused(const OpenFile& file) {
  return std::ranges::any_of(
      file.locks().all(), [](const FileLocks::LockRef& lock) { return lock->refused != NFS4_OK; });
}

std::vector<FileLocks::LockRef> locks_of(const OpenFile& file) {
  const auto all = file.locks().all();
  return {all.begin(), all.end()};
}

}  // namespace

void OpenReclaimer::on_all_forgotten() {
  for (const OpenFileRef& file : files_.open_table.in_use()) file->forgotten();
}

std::size_t OpenReclaimer::pending() const {
  const auto files = files_.open_table.in_use();
  return static_cast<std::size_t>(std::ranges::count_if(
      files, [](const OpenFileRef& file) { return file->recovering() || any_refused(*file); }));
}

Task<Result<void>> OpenReclaimer::reclaim(rpc::Channel& channel) {
  auto files = files_.open_table.in_use();
  // A claim that ends each connection must not keep the others from theirs while the server waits.
  std::ranges::stable_sort(files, {}, [](const OpenFileRef& file) { return file->cut_claims(); });
  for (const OpenFileRef& file : files) {
    if (file->claim() != OpenFile::Claim::previous) continue;
    if (!may_try_again(*file)) {
      give_up(*file, kInVain);
      continue;
    }
    auto opened = co_await open_all(&channel, file, CLAIM_PREVIOUS);
    if (opened) opened = co_await LockReclaimer(files_).reclaim(channel, file);
    if (opened) {
      note_recovered(*file, reclaimed_);
      continue;
    }
    if (is_connection_lost(opened.error())) file->claim_cut_off(files_.context.reactor.now());
    if (is_cut_off(opened.error())) co_return opened;
    judge_reclaim(file, opened.error());
  }
  co_return Result<void>{};
}

bool OpenReclaimer::may_try_again(OpenFile& file) const {
  return file.may_try_again(files_.context.reactor.now(), files_.context.lease_time());
}

void OpenReclaimer::judge_reclaim(const OpenFileRef& file, const Error& error) {
  if (came_to_nothing(error)) {
    for (const FileLocks::LockRef& lock : locks_of(*file)) {
      if (lock->at_server) files_.open_table.lose_locks(*lock, error.message());
    }
    file->not_reclaimed();
  } else {
    give_up(*file, error.message());
  }
}

Task<void> OpenReclaimer::reopen() {
  const auto files = files_.open_table.in_use();
  for (const OpenFileRef& file : files) {
    if (file->claim() == OpenFile::Claim::freed) {
      co_await stateids_.free(file->caller(), file->open_stateid());
      // The server may have restarted meanwhile, and given the open back.
      if (file->claim() == OpenFile::Claim::freed) give_up(*file, "revoked by the server");
    } else if (file->claim() == OpenFile::Claim::anew) {
      co_await reopen_one(file);
    }
    co_await relock(file);
  }
}

// The lock alone is lost: the open, and what others have locked through it, are as they were.
Task<void> OpenReclaimer::relock(OpenFileRef file) {
  for (const FileLocks::LockRef& lock : locks_of(*file)) {
    if (lock->refused == NFS4_OK || file->claim() == OpenFile::Claim::previous) continue;
    const nfsstat4 why = lock->refused;
    const stateid4 refused = lock->stateid();
    co_await stateids_.free(file->caller(), refused);
    if (lock->refused == NFS4_OK || lock->stateid() != refused) continue;  // reclaimed meanwhile
    files_.open_table.lose_locks(*lock, std::string(status_name(why)));
    files_.context.session.recovery_ended();
  }
}

Task<void> OpenReclaimer::reopen_one(OpenFileRef file) {
  if (!may_try_again(*file)) {
    give_up(*file, kInVain);
    co_return;
  }
  auto beginning = files_.open_table.begin_open(file);
  const OpenTable::Opening opening = co_await beginning;
  file->begin_reopening();
  auto opened = co_await open_all(nullptr, file, CLAIM_FH);
  if (opened) co_await check_locks(file);
  if (file->claim() != OpenFile::Claim::anew) co_return;  // the server has restarted meanwhile
  if (opened) {
    note_recovered(*file, reopened_);
  } else if (!files_.context.session.pauses().interrupted()) {
    give_up(*file, opened.error().message());
  }
}

// The server may know the locks although it has refused the open's stateid. A lock that only this
// client knows of is lost with the delegation.
Task<void> OpenReclaimer::check_locks(OpenFileRef file) {
  Locks known;
  for (const FileLocks::LockRef& lock : locks_of(*file)) {
    if (lock->established) {
      known.push_back(lock);
    } else if (!file->delegation()) {
      files_.open_table.lose_locks(*lock, "the server has forgotten that the file is open");
    }
  }
  co_await test_locks(std::move(known));
}

void OpenReclaimer::give_up(OpenFile& file, const std::string& why) {
  files_.open_table.give_up(file, why);
  files_.context.session.recovery_ended();
}

void OpenReclaimer::note_recovered(OpenFile& file, Counter& counter) {
  file.recovered();
  counter.add();
  files_.context.session.recovery_ended();
}

Task<Result<void>> OpenReclaimer::open_all(rpc::Channel* channel, OpenFileRef file,
                                           open_claim_type4 claim) {
  for (const std::uint32_t access : kAccesses) {
    if (!file->opened_for(access)) continue;
    auto opened = co_await open_one(channel, file, claim, access);
    CO_TRY(opened);
  }
  co_return Result<void>{};
}

// The session does not repeat requests of the recovery (execute_on), so DELAY is repeated here.
Task<Result<void>> OpenReclaimer::open_one(rpc::Channel* channel, OpenFileRef file,
                                           open_claim_type4 claim, std::uint32_t access) {
  const TimePoint begun = files_.context.reactor.now();
  Backoff backoff;
  for (;;) {
    auto stateid = co_await ask(channel, file, claim, access);
    if (stateid) {
      file->opened(*stateid, access);
      co_return Result<void>{};
    }
    const bool wait = channel && asks_for_patience(stateid.error());
    if (!wait || files_.context.reactor.now() - begun >= patience()) {
      co_return fail(std::move(stateid.error()));
    }
    const bool slept = co_await files_.context.session.pauses().pause(backoff.next());
    if (!slept) co_return fail(steps::ending());
  }
}

Task<Result<stateid4>> OpenReclaimer::ask(rpc::Channel* channel, OpenFileRef file,
                                          open_claim_type4 claim, std::uint32_t access) {
  OpenRequest request;
  request.object = file->handle();
  request.share_access = access;
  request.claim = claim;
  if (claim == CLAIM_PREVIOUS) request.delegate_type = delegation_to_reclaim(*file);
  // Linux knfsd gives nothing back to who says WANT_NO_DELEG, which RFC 8881 lets it take
  // seriously.
  if (request.delegate_type != OPEN_DELEGATE_NONE) {
    request.want = OPEN4_SHARE_ACCESS_WANT_NO_PREFERENCE;
  }
  Sending sending;
  sending.channel = channel;
  sending.reserved = true;
  sending.patience = {patience(), std::max(kGraceLeases * patience(), kGraceAtLeast)};
  auto granted = co_await send_claim(files_.context, file->opener(access), request, sending);
  CO_TRY(granted);
  if (claim == CLAIM_PREVIOUS) take_delegation(*file, granted->delegation);
  co_return granted->stateid;
}

open_delegation_type4 OpenReclaimer::delegation_to_reclaim(const OpenFile& file) const {
  const DelegationRef& delegation = file.delegation();
  if (!delegation || !delegation->to_be_reclaimed()) {
    return OPEN_DELEGATE_NONE;
  }
  return delegation->writes() ? OPEN_DELEGATE_WRITE : OPEN_DELEGATE_READ;
}

// One that the server does not give back is dropped when all opens are reclaimed.
void OpenReclaimer::take_delegation(OpenFile& file,
                                    const std::optional<GrantedDelegation>& granted) {
  if (!granted) return;
  const DelegationRef& delegation = file.delegation();
  if (!delegation || !delegation->to_be_reclaimed()) {
    files_.context.session.background().start(
        delegreturn_quietly(files_.context, file.caller(), file.handle(), granted->stateid));
    return;
  }
  delegation->reclaimed(*granted);
  delegations_reclaimed_.add();
  if (granted->recall) files_.delegations.start_return(delegation);
}

Task<void> OpenReclaimer::find_revoked() {
  const auto files = files_.open_table.in_use();
  co_await stateids_.test(
      files, [](const OpenFile& file) { return file.newest_stateid(); },
      [this](const auto&... refused) { return on_refused(refused...); });
  Locks locks;
  for (const OpenFileRef& file : files) {
    for (const FileLocks::LockRef& lock : locks_of(*file)) {
      if (lock->established) locks.push_back(lock);
    }
  }
  co_await test_locks(std::move(locks));
}

Task<void> OpenReclaimer::test_locks(Locks locks) {
  const auto note = [](const FileLocks::LockRef& lock, const stateid4& sent,
                       nfsstat4 code) -> Task<void> {
    const bool stale = code == NFS4ERR_OLD_STATEID || lock->given != sent || !lock->established;
    if (!stale) lock->on_refused(code);
    co_return;
  };
  return stateids_.test(
      std::move(locks), [](const LockState& lock) { return lock.given; }, note);
}

Task<void> OpenReclaimer::on_refused(OpenFileRef file, stateid4 sent, nfsstat4 code) {
  // A file that was opened, downgraded or closed meanwhile has another stateid by now; one that
  // only a delegation covers has none.
  const bool stale = code == NFS4ERR_OLD_STATEID || file->newest_stateid() != sent;
  if (stale || file->server_access() == 0) co_return;
  if (file->claim() != OpenFile::Claim::none || file->lost()) co_return;
  if (!is_revoked(code)) co_await stateids_.free(file->caller(), file->open_stateid());
  file->server_open().on_refused(code);
}

Duration OpenReclaimer::patience() const { return files_.context.lease_time(); }

void OpenReclaimer::visit_counters(CounterVisitor& visitor) const {
  visitor.visit("opens_reclaimed", reclaimed_.value());
  visitor.visit("opens_reopened", reopened_.value());
  visitor.visit("delegations_reclaimed", delegations_reclaimed_.value());
  visitor.visit("stateids_tested", stateids_.tested());
  visitor.visit("stateids_freed", stateids_.freed());
}

}  // namespace nfsrdma::client
