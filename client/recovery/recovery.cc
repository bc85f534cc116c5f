#include "client/recovery/recovery.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "client/proto/status.h"
#include "transport/base/log.h"

namespace nfsrdma::client {
namespace {

constexpr std::uint32_t kRevoked =
    nfs4::SEQ4_STATUS_EXPIRED_ALL_STATE_REVOKED | nfs4::SEQ4_STATUS_EXPIRED_SOME_STATE_REVOKED |
    nfs4::SEQ4_STATUS_ADMIN_STATE_REVOKED | nfs4::SEQ4_STATUS_RECALLABLE_STATE_REVOKED;

/// Detours that one connection may take before it is given up.
constexpr int kMaxDetours = 6;
/// Calls on the wire are waited for this part of a lease before their session is given up; and
/// revoked states are looked for as often.
constexpr int kDrainsPerLease = 3;
/// One part in this many of the remaining lease may pass between attempts to connect; when little
/// is left, one attempt a second.
constexpr int kPausesPerLease = 3;
constexpr Duration kShortestPause = std::chrono::seconds(1);

}  // namespace

Recovery::Recovery(Reactor& reactor, Session& session, SessionSetup& session_setup,
                   std::vector<Reclaimer*> reclaimers, Trunk& trunk)
    : reactor_(reactor),
      session_(session),
      session_setup_(session_setup),
      reclaimers_(std::move(reclaimers)),
      trunk_(trunk) {}

// A session whose reclaims were interrupted is replaced: its slots are in doubt, and a new session
// is simpler.
Task<Result<void>> Recovery::on_new_channel(rpc::Channel& channel) {
  const bool bound_already = std::exchange(phase_, Phase::stepping) == Phase::rebinding;
  if (!bound_already) need((needs_ & (kReclaim | kComplete)) != 0 ? interrupted() : kBinding);
  session_.slots().hold();
  auto recovered = co_await work(channel);
  phase_ = Phase::steady;
  if (!recovered) co_return recovered;
  session_.slots().open();
  start_state_work();
  co_return recovered;
}

std::uint32_t Recovery::interrupted() const {
  const bool made = (needs_ & kSession) == 0;
  return made ? kOldSession | kSession : kSession;
}

void Recovery::on_channel_lost(const Error&) {
  if (phase_ == Phase::rebinding) phase_ = Phase::steady;
  bound_again_ = false;
}

// A fraction of the remaining lease, so that most of that is left for renewal when the network is
// back. A lease that has run out may mean a reboot: the grace period is about a lease long.
Duration Recovery::longest_pause() const {
  if (hurrying_) return kShortestPause;
  const Duration lease = session_.limits().lease_time;
  const Duration left = session_.renewed_at() + lease - reactor_.now();
  return std::max((left > Duration::zero() ? left : lease) / kPausesPerLease, kShortestPause);
}

Task<Result<void>> Recovery::work(rpc::Channel& channel) {
  int detours = 0;
  while (needs_ != 0) {
    const auto step = static_cast<Need>(needs_ & -needs_);
    if (step == kOldSession || step == kSession) co_await wire_drained();
    auto taken = co_await take(step, channel);
    if (taken) continue;
    detours_.add();
    if (!redirect(step, taken.error()) || ++detours > kMaxDetours) co_return taken;
    log::info("recovery: {}", taken.error().message());
  }
  co_return Result<void>{};
}

Task<Result<void>> Recovery::take(Need step, rpc::Channel& channel) {
  switch (step) {
    case kClientId: return renew_client_id(channel);
    case kOldSession: return destroy_old_session(channel);
    case kSession: return renew_session(channel);
    case kBinding: return bind(channel);
    case kReclaim: return reclaim(channel);
    case kComplete: break;
  }
  return complete(channel);
}

Task<Result<void>> Recovery::renew_client_id(rpc::Channel& channel) {
  auto fresh = co_await session_setup_.exchange_id(channel);
  CO_TRY(fresh);
  done(kClientId);
  need(kSession);
  if (!*fresh) co_return Result<void>{};
  done(kOldSession);  // it went with the client id before
  client_ids_.add();
  need(kComplete);
  if (client_ids_.value() > 1) forget_all();  // there was one before: its states are reclaimed
  co_return Result<void>{};
}

void Recovery::forget_all() {
  need(kReclaim | kComplete);
  for (Reclaimer* reclaimer : reclaimers_) reclaimer->on_all_forgotten();
  if (restarted_) restarted_();
  log::warning("the server has restarted or the lease ran out: {} states are to be recovered",
               pending());
}

// NFS4ERR_DELAY: the server executes a request of the session still. A WRITE among them is sent
// again in the new one, and could then come behind a later write of the same bytes: it is waited
// for, but not so long that the lease runs out. A connection that is new is bound to it for this
// (RFC 8881 section 18.37.3).
Task<Result<void>> Recovery::destroy_old_session(rpc::Channel& channel) {
  const TimePoint lease_ends = session_.renewed_at() + session_.limits().lease_time;
  const TimePoint latest =
      std::min(reactor_.now() + drain_patience(), lease_ends - drain_patience());
  auto destroyed = co_await session_setup_.destroy_session_until(channel, latest);
  if (!destroyed && destroyed.error().is(Layer::nfs, nfs4::NFS4ERR_CONN_NOT_BOUND_TO_SESSION)) {
    auto bound = co_await session_setup_.bind(channel);
    if (bound) {
      destroyed = co_await session_setup_.destroy_session_until(channel, latest);
    }
  }
  if (!destroyed && destroyed.error().layer != Layer::nfs) co_return destroyed;
  done(kOldSession);
  co_return Result<void>{};
}

Task<Result<void>> Recovery::renew_session(rpc::Channel& channel) {
  auto created = co_await session_setup_.create_session(channel);
  CO_TRY(created);
  sessions_.add();
  done(kOldSession | kSession | kBinding);  // kOldSession: found to be needed meanwhile
  co_return created;
}

Task<Result<void>> Recovery::bind(rpc::Channel& channel) {
  auto bound = co_await session_setup_.bind(channel);
  CO_TRY(bound);
  binds_.add();
  done(kBinding);
  co_return bound;
}

Task<Result<void>> Recovery::reclaim(rpc::Channel& channel) {
  reclaim_rounds_.add();
  for (Reclaimer* reclaimer : reclaimers_) {
    auto reclaimed = co_await reclaimer->reclaim(channel);
    CO_TRY(reclaimed);
  }
  done(kReclaim);
  co_return Result<void>{};
}

Task<Result<void>> Recovery::complete(rpc::Channel& channel) {
  auto completed = co_await session_setup_.reclaim_complete(channel);
  CO_TRY(completed);
  completes_.add();
  done(kComplete);
  if (completes_.value() > 1) log::warning("recovery is complete");  // as its beginning was said
  co_return completed;
}

// True when the error says which step has to be taken before this one.
bool Recovery::redirect(Need step, const Error& error) {
  if (error.layer != Layer::nfs || step == kClientId) return false;
  switch (static_cast<nfs4::nfsstat4>(error.code)) {
    case nfs4::NFS4ERR_STALE_CLIENTID:
    case nfs4::NFS4ERR_EXPIRED: need(kClientId); return true;
    case nfs4::NFS4ERR_BADSESSION:
    case nfs4::NFS4ERR_DEADSESSION: need(kSession); return true;
    case nfs4::NFS4ERR_SEQ_MISORDERED:
      need(step == kSession ? kClientId : kOldSession | kSession);  // of CREATE_SESSION, or a slot
      return true;
    case nfs4::NFS4ERR_CONN_NOT_BOUND_TO_SESSION: need(kBinding); return step != kBinding;
    default: break;
  }
  if (step == kBinding) need(kSession);
  return step == kBinding;
}

void Recovery::on_session_lost(const char* reason, bool kept) {
  need(kept ? kOldSession | kSession : kSession);
  start_reset(reason);
}

void Recovery::start_reset(const char* reason) {
  reset_lines_.warning(reactor_.now(), "recovery: {}", reason);
  session_.slots().hold();
  // The steps that run take the new need into account.
  if (phase_ == Phase::draining || phase_ == Phase::stepping) return;
  phase_ = Phase::draining;
  session_.background().start(drain());
}

Duration Recovery::drain_patience() const { return session_.limits().lease_time / kDrainsPerLease; }

// Requests on the wire end before their session goes (RFC 8881 section 18.46.3): what is answered
// counts, and is not made twice. A call that the server never answers must not hold up all others:
// its connection is given up.
Task<void> Recovery::wire_drained() {
  Timer patience(reactor_, [this] {
    trunk_.drop(Error::local(ETIMEDOUT, "recovery", "calls of the lost session got no answer"));
  });
  patience.arm(drain_patience());
  co_await session_.drained();
}

Task<void> Recovery::drain() {
  co_await wire_drained();
  if (phase_ == Phase::draining) rebind();
}

void Recovery::rebind() {
  phase_ = Phase::rebinding;
  if (!trunk_.rebind()) phase_ = Phase::steady;
}

// A connection is bound anew once; if that was not enough, another one is tried.
void Recovery::on_not_bound() {
  if (!trunk_.up()) return;
  need(kBinding);
  if (bound_again_) {
    trunk_.drop(Error::local(ENOTCONN, "recovery", "the server does not accept the binding"));
    return;
  }
  bound_again_ = true;
  rebind();
}

void Recovery::on_state_refused() {
  state_tasks_ |= kReopen;
  start_state_work();
}

void Recovery::start_state_work() {
  session_.recovery_ended();
  if (state_work_ != StateWork::idle) {
    // It may have passed by what a restart meanwhile has left to be opened anew.
    if (!wants(kReopen) && pending() > 0) state_tasks_ |= kReopen;
    return;
  }
  if (pending() > 0 || wants(kLookForRevoked)) session_.background().start(work_on_states());
}

Task<void> Recovery::work_on_states() {
  do {
    state_work_ = wants(kLookForRevoked) ? StateWork::looking : StateWork::reopening;
    state_tasks_ = 0;
    if (state_work_ == StateWork::looking) revoked_rounds_.add();
    for (Reclaimer* reclaimer : reclaimers_) {
      if (state_work_ == StateWork::looking) co_await reclaimer->find_revoked();
      co_await reclaimer->reopen();
    }
  } while (state_tasks_ != 0 && !session_.pauses().interrupted());
  state_work_ = StateWork::idle;
  session_.recovery_ended();
}

std::size_t Recovery::pending() const {
  std::size_t count = 0;
  for (const Reclaimer* reclaimer : reclaimers_) count += reclaimer->pending();
  return count;
}

// What the steps under way leave as it is, and has to be reacted to when they have been taken.
std::uint32_t Recovery::unmended() const {
  std::uint32_t flags = 0;
  if (needs_ == 0) return flags;
  if ((needs_ & (kClientId | kSession)) == 0) flags |= nfs4::SEQ4_STATUS_BACKCHANNEL_FAULT;
  if ((needs_ & (kClientId | kReclaim | kComplete)) == 0)
    flags |= nfs4::SEQ4_STATUS_RESTART_RECLAIM_NEEDED;
  return flags;
}

// Reacts once to a flag that stays set (RFC 8881 section 18.46.3 says when each is cleared). Flags
// seen during a recovery that removes their cause need no reaction.
void Recovery::on_status_flags(std::uint32_t flags) {
  const std::uint32_t fresh = flags & ~noted_flags_;
  noted_flags_ = flags & ~unmended();
  if (fresh != 0) {
    flag_lines_.warning(reactor_.now(), "the server reports sr_status_flags {:#x}", flags);
  }
  if ((flags & kRevoked) == 0) unseen_revocation_ = false;
  if (needs_ != 0) return;
  if ((fresh & nfs4::SEQ4_STATUS_RESTART_RECLAIM_NEEDED) != 0) {
    forget_all();
    start_reset("the server has restarted and kept the session");
  } else if ((fresh & nfs4::SEQ4_STATUS_BACKCHANNEL_FAULT) != 0) {
    replace_session("the server has lost track of the back channel");
  }
  note_revoked(flags, fresh);
  note_callback_path(flags);
}

void Recovery::replace_session(const char* reason) {
  need(kOldSession | kSession);
  start_reset(reason);
}

// Repeated as long as the flags stay set, but not more often than the lease is renewed.
void Recovery::note_revoked(std::uint32_t flags, std::uint32_t fresh) {
  if ((flags & kRevoked) == 0 || wants(kLookForRevoked)) return;
  const Duration pause = session_.limits().lease_time / kDrainsPerLease;
  if (revoked_looked_at_ && reactor_.now() - *revoked_looked_at_ < pause) {
    unseen_revocation_ = unseen_revocation_ || (fresh & kRevoked) != 0;
    return;
  }
  unseen_revocation_ = false;
  revoked_looked_at_ = reactor_.now();
  state_tasks_ |= kLookForRevoked;
  start_state_work();
}

void Recovery::note_callback_path(std::uint32_t flags) {
  constexpr std::uint32_t kDown =
      nfs4::SEQ4_STATUS_CB_PATH_DOWN | nfs4::SEQ4_STATUS_CB_PATH_DOWN_SESSION;
  switch (callback_path_.note((flags & kDown) != 0, reactor_.now())) {
    case CallbackPath::Step::nothing: return;
    case CallbackPath::Step::bind:
      need(kBinding);
      rebind();
      return;
    case CallbackPath::Step::connection:
      trunk_.drop(Error::local(ENOTCONN, "recovery", "the server's callbacks do not arrive"));
      return;
    case CallbackPath::Step::session:
      replace_session("the server's callbacks do not arrive");
      return;
    case CallbackPath::Step::give_up:
      log::error("the server's callbacks do not arrive, whatever is tried; going on without them");
      return;
  }
}

void Recovery::visit_counters(CounterVisitor& visitor) const {
  visitor.visit("recovery_client_ids", client_ids_.value());
  visitor.visit("recovery_sessions", sessions_.value());
  visitor.visit("recovery_binds", binds_.value());
  visitor.visit("recovery_reclaim_rounds", reclaim_rounds_.value());
  visitor.visit("recovery_reclaim_completes", completes_.value());
  visitor.visit("recovery_detours", detours_.value());
  visitor.visit("recovery_revoked_rounds", revoked_rounds_.value());
  visitor.visit("recovery_states_pending", pending());
}

}  // namespace nfsrdma::client
