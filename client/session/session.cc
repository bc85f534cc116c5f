#include "client/session/session.h"

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>

#include "client/compound/operation_names.h"
#include "client/session/exchange.h"
#include "transport/base/log.h"
#include "transport/base/probe.h"

namespace nfsrdma::client {
namespace {

/// New numbers, slots or sessions that one request may try.
constexpr int kMaxTries = 8;
/// Times that one request's state may be refused and recovered.
constexpr int kMaxRefusals = 4;
/// Pauses for NFS4ERR_FILE_OPEN, 1.5 s in all, as the Linux client makes them.
constexpr int kMaxFileOpens = 4;
/// When the log says that the server puts a request off, and how often.
constexpr Duration kDelayIsLong = std::chrono::seconds(10);
constexpr Duration kDelayReports = std::chrono::minutes(1);

/// A shorter one is counted together with the next. Two clocks that are read one after the other on
/// a busy machine differ, too.
constexpr Duration kShortestSuspension = std::chrono::seconds(1);

Error lost_state() {
  return Error::local(EIO, "stateid", "the server has lost the state of this file");
}

}  // namespace

Error too_large_for_session() {
  return Error::local(EMSGSIZE, "SEQUENCE", "the session allows smaller messages only");
}

bool is_too_large(const Error& error) { return error.is(Layer::local, EMSGSIZE); }

Session::Session(Reactor& reactor, CompoundPool& compounds, const Credential& caller, Trunk& trunk)
    : reactor_(reactor),
      compounds_(compounds),
      caller_(caller),
      trunk_(trunk),
      slots_(reactor),
      pauses_(reactor),
      background_(reactor),
      drain_waiters_(reactor),
      recovery_waiters_(reactor) {}

Task<Result<void>> Session::execute(Compound& compound) { return execute(compound, Patience()); }

Task<Result<void>> Session::execute(Compound& compound, Patience patience) {
  auto sealed = compound.seal();
  CO_TRY(sealed);
  if (compound.operations() > limits_.max_operations) {
    co_return fail(Error::local(E2BIG, "COMPOUND", "more operations than ca_maxoperations"));
  }
  trace_.begin(compound, reactor_.now());
  auto answered = co_await execute_sealed(compound, patience);
  trace_.end(compound, answered, reactor_.now());
  if (!answered && compound.span().sends > 0) {
    answered.error().xid = compound.span().xid;
    answered.error().slot = compound.span().slot;
  }
  co_return answered;
}

Task<Result<void>> Session::execute_sealed(Compound& compound, Patience patience) {
  const TimePoint begun = compound.span().begun;
  Waiting waiting(*this, compound, begun);
  PutOff put_off(patience, begun);
  Backoff backoff;
  int file_opens = 0;
  for (int refusals = 0;;) {
    while (must_wait_for_state(compound)) {
      compound.set_waits_for(WaitsFor::recovery);
      co_await recovery_waiters_.wait();
    }
    if (compound.state_lost()) co_return fail(lost_state());
    auto answered = co_await perform(compound, nullptr);
    CO_TRY(answered);
    if (!put_off_for_long(compound, begun)) waiting.restart(reactor_.now());
    if (compound.state_refused() && ++refusals <= kMaxRefusals) {
      note_refused_state(compound);
      compound.drop_reply();
      continue;
    }
    const bool again =
        asks_for_patience(compound) || (is_file_open(compound) && ++file_opens <= kMaxFileOpens);
    if (!again || put_off.for_too_long(compound.results().status(), reactor_.now())) {
      note_end_of_delay(compound, begun);
      co_return answered;
    }
    delayed_.add();
    ++compound.span().delays;
    compound.drop_reply();
    compound.set_waits_for(WaitsFor::pause);
    const bool slept = co_await pauses_.pause(backoff.next());
    if (!slept) co_return fail(give_up("the mount is ending"));
  }
}

// DELAY is an answer as long as the server may be getting a delegation back, which takes a lease at
// most. After that a caller with a limited patience (soft) does not wait any more.
bool Session::put_off_for_long(const Compound& compound, TimePoint begun) {
  if (compound.results().status() != nfs4::NFS4ERR_DELAY) return false;
  const TimePoint now = reactor_.now();
  const Duration waited = now - begun;
  if (waited >= kDelayIsLong && (!delay_reported_ || now - *delay_reported_ >= kDelayReports)) {
    delay_reported_ = now;
    log::warning(
        "the server has put off {} for {:.0f} s (NFS4ERR_DELAY): it is busy, short of "
        "something, or waits for another client. It is asked again every {} s; killed callers are "
        "let go",
        operation_names(compound), std::chrono::duration<double>(waited).count(),
        std::chrono::duration_cast<std::chrono::seconds>(Backoff::kLongest).count());
  }
  return waited > limits_.lease_time;
}

// At the level of the line before, and at most as often.
void Session::note_end_of_delay(Compound& compound, TimePoint begun) {
  if (compound.span().delays == 0 || !delay_reported_ || *delay_reported_ < begun) return;
  delay_ended_lines_.warning(reactor_.now(), "the server has answered {} after {:.0f} s",
                             operation_names(compound),
                             std::chrono::duration<double>(reactor_.now() - begun).count());
}

bool Session::must_wait_for_state(const Compound& compound) const {
  return compound.state_recovering() && observer_->recovering() && !slots_.closed();
}

void Session::Waiting::restart(TimePoint now) {
  unlink();
  since = now;
  session.waiting_.push_back(*this);
}

LongestWait Session::longest_wait() {
  if (waiting_.empty()) return {nullptr, reactor_.now()};
  return {&waiting_.front().compound, waiting_.front().since};
}

// A request sent before the state was recovered is simply repeated with the new stateid.
void Session::note_refused_state(Compound& compound) {
  states_refused_.add();
  if (compound.tell_refused_states()) observer_->on_state_refused();
}

Task<Result<void>> Session::execute_on(rpc::Channel& channel, Compound& compound) {
  auto sealed = compound.seal();
  CO_TRY(sealed);
  trace_.begin(compound, reactor_.now());
  auto answered = co_await perform(compound, &channel);
  trace_.end(compound, answered, reactor_.now());
  co_return answered;
}

bool Session::asks_for_patience(const Compound& compound) const {
  const CompoundReader& results = compound.results();
  const bool wait =
      results.status() == nfs4::NFS4ERR_DELAY || results.status() == nfs4::NFS4ERR_GRACE;
  return wait && compound.repeatable_after(results.last_index());
}

bool Session::is_file_open(const Compound& compound) const {
  const CompoundReader& results = compound.results();
  return results.status() == nfs4::NFS4ERR_FILE_OPEN &&
         compound.repeatable_after(results.last_index());
}

// One request until SEQUENCE has succeeded or there is no hope: slot by slot, number by number.
Task<Result<void>> Session::perform(Compound& compound, rpc::Channel* only) {
  requests_.add();
  int tries = 0;
  while (tries < kMaxTries) {
    SlotHold slot;
    if (only) {
      slot = slots_.take_for_recovery();
      if (!slot) co_return fail(give_up("no slot is free for the recovery"));
    } else {
      compound.set_waits_for(WaitsFor::slot);
      if (slots_.exhausted(compound.urgency())) trunk_.hurry();  // a request that is kept has one
      slot = co_await slots_.acquire(compound.urgency());
    }
    if (slots_.closed()) co_return fail(give_up("the mount is ending"));
    if (!slot) continue;  // the session changed while this request waited
    // It may have been lost while this request waited for its slot: without its lock it must not go
    // out in the name of the open.
    if (!only && compound.state_lost()) co_return fail(lost_state());
    if (!fits(compound)) co_return fail(too_large_for_session());
    compound.span().slot = slot->id;
    compound.span().slot_taken = reactor_.now();
    note_slot(compound);
    auto verdict = co_await perform_once(compound, slot, only);
    resolve_if_in_doubt(slot);
    CO_TRY(verdict);
    if (*verdict == Verdict::done) co_return Result<void>{};
    compound.drop_reply();
    ++tries;
  }
  co_return fail(give_up("no slot accepted the request"));
}

/// By itself: in a coroutine's frame the compiler finds no place that a probe can name.
void Session::note_slot(Compound& compound) {
  const Span& span = compound.span();
  NFSRDMA_PROBE(nfs4_setup_sequence, &compound, span.origin, span.slot,
                (span.slot_taken - span.begun).count());
}

bool Session::fits(const Compound& compound) const {
  return !compound.divisible() || (compound.request_bytes() <= limits_.max_request &&
                                   compound.reply_bytes() <= limits_.max_response);
}

Task<Result<Session::Verdict>> Session::perform_once(Compound& compound, SlotHold& slot,
                                                     rpc::Channel* only) {
  Backoff backoff;
  fill_sequence(compound, *slot);
  for (int corrections = 0;; fill_again(compound, *slot)) {
    auto sent = co_await transmit(compound, slot, only);
    CO_TRY(sent);
    if (!slot) {
      if (compound.unanswered()) note_uncertain(compound);
      co_return Verdict::move;
    }
    auto verdict = judge(compound, *slot);
    if (!verdict && !only) verdict = recover_from(compound, std::move(verdict.error()));
    CO_TRY(verdict);
    if (*verdict == Verdict::at_once && ++corrections < kMaxTries) continue;
    if (*verdict != Verdict::again) co_return verdict;
    compound.drop_reply();
    compound.set_waits_for(WaitsFor::pause);
    const bool slept = co_await pauses_.pause(backoff.next());
    if (!slept) co_return fail(give_up("the mount is ending"));
    if (!slot) {
      if (compound.unanswered()) note_uncertain(compound);
      co_return Verdict::move;
    }
  }
}

void Session::resolve_if_in_doubt(SlotHold& slot) {
  if (slot && slot->in_doubt()) resolve_slots();
}

// A request that was sent on a connection before may be the one that has the number: repeated in
// other words it would be a false retry (RFC 8881 section 2.10.6.1.3.1), and then made twice.
void Session::fill_again(Compound& compound, const Slot& slot) {
  if (!compound.unanswered()) return fill_sequence(compound, slot);
  compound.set_xid(compounds_.next_xid());
}

void Session::fill_sequence(Compound& compound, const Slot& slot) {
  nfs4::SEQUENCE4args args;
  args.sa_sessionid = id_;
  args.sa_sequenceid = slot.seq_nr;
  args.sa_slotid = slot.id;
  args.sa_highest_slotid = slots_.highest_used();
  args.sa_cachethis = compound.modifying() && compound.reply_bytes() <= limits_.max_cached;
  compound.set_sequence(args);
  compound.set_stateids();
  compound.set_xid(compounds_.next_xid());
}

// For its reply, for its slot, or for its turn: a request that may have ended a connection goes by
// itself.
bool Session::is_waited_for(Compound& compound) const {
  return compound.span().begun < hurried_ || slots_.waiting() > 0 || compound.unanswered();
}

// A later change of the same name may have been made and acknowledged since. What may have been
// executed is asked for to the end.
bool Session::is_given_up(Compound& compound) const {
  if (!compound.ends_with_caller() || !caller_gone_) return false;
  if (compound.unanswered() || compound.maybe_executed()) return false;
  return caller_gone_(compound.span().origin);
}

void Session::hurry() {
  hurried_ = std::max(hurried_, reactor_.now());
  trunk_.hurry();
}

void Session::hurry_always() {
  hurried_ = TimePoint::max();
  trunk_.hurry();
}

// Until there is a reply: the same bytes on one connection after the other.
Task<Result<void>> Session::transmit(Compound& compound, SlotHold& slot, rpc::Channel* only) {
  rpc::Call& call = compound.call();
  const nfs4::slotid4 slot_id = slot->id;
  Backoff backoff;
  for (;;) {
    rpc::Channel* channel = only ? only : trunk_.channel(slot_id);
    if (!channel) {
      compound.set_waits_for(WaitsFor::connection);
      auto ready = co_await trunk_.ready(slot_id);
      CO_TRY(ready);
      channel = *ready;
    }
    if (!slot) co_return Result<void>{};  // another session: this slot means nothing any more
    if (is_given_up(compound)) {
      co_return fail(Error::local(EINTR, "COMPOUND", "its caller has given it up"));
    }
    const TimePoint sent_at = reactor_.now();
    if (is_waited_for(compound)) call.pace = net::Pace::prompt;
    compound.note_submission(sent_at);
    slot->record_sent(sent_at);
    ++on_the_wire_;
    co_await rpc::submit(*channel, call);
    if (--on_the_wire_ == 0) drain_waiters_.wake_all();
    Result<rpc::Reply>& reply = *call.reply;
    if (slot && reply) slot->overtaken = 0;
    if (slot && !reply && renewed_at_ > sent_at) ++slot->overtaken;
    if (reply) {
      compound.set_sent_at(sent_at);
      if (!slot) compound.set_unanswered(true);  // with its slot went what would judge the answer
      co_return Result<void>{};
    }
    compound.set_unanswered(true);
    if (only || reply.error().layer != Layer::fabric || call.is_poison()) {
      co_return fail(reply.error());
    }
    resent_.add();
    if (trunk_.channel(slot_id) != channel) continue;
    // The connection is up, but the provider has no resources left to expose memory. Without a
    // pause the call would be tried again and again until there are some.
    compound.set_waits_for(WaitsFor::pause);
    const bool slept = co_await pauses_.pause(backoff.next());
    if (!slept) co_return fail(give_up("the mount is ending"));
  }
}

Task<Result<void>> Session::renew() {
  CompoundRef compound = compounds_.acquire_reserved();
  if (!compound) co_return fail(give_up("no request is free for the lease renewal"));
  compound->begin(caller_, compounds_.machine_name());
  compound->call().blameless = true;  // the lease does not wait until others have been tried alone
  auto answered = co_await execute(*compound);
  CO_TRY(answered);
  co_return compound->results().finish();
}

Task<void> Session::drained() {
  while (on_the_wire_ > 0) co_await drain_waiters_.wait();
}

void Session::begin(const nfs4::sessionid4& id, const nfs4::channel_attrs4& fore,
                    std::uint32_t max_slots, TimePoint asked_at) {
  id_ = id;
  begun_ = true;
  lost_ = false;
  note_renewal(asked_at);
  slots_.reset(fore.ca_maxrequests, max_slots);
}

// A request that was sent before a suspension was found may have waited through it.
void Session::note_renewal(TimePoint sent_at) {
  if (sent_at >= resumed_at_) renewed_at_ = std::max(renewed_at_, sent_at);
}

void Session::look_for_suspension() {
  const Duration suspended = reactor_.suspended();
  const Duration added = suspended - suspended_.value_or(suspended);
  if (suspended_ && added < kShortestSuspension) return;
  suspended_ = suspended;
  if (added == Duration::zero()) return;
  resumed_at_ = reactor_.now();
  renewed_at_ -= added;
  log::info("this machine was suspended for {:.0f} s: the lease is renewed",
            std::chrono::duration<double>(added).count());
}

void Session::lose(const char* reason, bool kept) {
  if (lost_) return;
  lost_ = true;
  lost_sessions_.add();
  observer_->on_session_lost(reason, kept);
}

bool Session::has_room(std::uint32_t part_left) const {
  if (!trunk_.up() || trunk_.open_calls() > trunk_.calls_in_flight()) return false;
  if (!slots_.is_open() || slots_.waiting() > 0) return false;
  const std::uint32_t usable = slots_.usable();
  return slots_.in_use() + std::max(usable / part_left, 1U) < usable;
}

Error Session::give_up(const char* why) const { return Error::local(EIO, "SEQUENCE", why); }

void Session::shut_down() {
  pauses_.interrupt();
  slots_.close();
  compounds_.close();
  recovery_waiters_.wake_all();
}

void Session::visit_counters(CounterVisitor& visitor) const {
  visitor.visit("session_requests", requests_.value());
  visitor.visit("session_requests_resent", resent_.value());
  visitor.visit("session_requests_delayed", delayed_.value());
  visitor.visit("session_slots_misordered", misordered_.value());
  visitor.visit("session_slots_resolved", resolved_.value());
  visitor.visit("session_slots_usable", slots_.usable());
  visitor.visit("session_slots_in_use", slots_.in_use());
  visitor.visit("session_losses", lost_sessions_.value());
  visitor.visit("session_status_flag_changes", flag_changes_.value());
  visitor.visit("session_states_refused", states_refused_.value());
  visitor.visit("session_requests_uncertain", uncertain_.value());
}

}  // namespace nfsrdma::client
