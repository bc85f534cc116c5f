// The steps of one request, in the order of client/session/attempt.h.

#include <cerrno>
#include <utility>

#include "client/session/session.h"
#include "transport/base/probe.h"

namespace nfsrdma::client {
namespace {

Error lost_state() {
  return Error::local(EIO, "stateid", "the server has lost the state of this file");
}

}  // namespace

// One loop, so that a request costs one coroutine, and its bounds stand in one place.
Task<Result<void>> Session::run(Compound& compound, Terms terms) {
  auto checked = check(compound, terms.kind);
  CO_TRY(checked);
  trace_.begin(compound, reactor_.now());
  Request request(compound, terms, reactor_.now());
  begin_request(request);
  Step step = request.attempt.step();
  while (step != Step::done && step != Step::fail) {
    Outcome outcome = Outcome::waited;
    if (step == Step::wait_for_state) {
      while (must_wait_for_state(compound)) {
        compound.set_waits_for(WaitsFor::recovery);
        co_await recovery_waiters_.wait();
      }
      outcome = on_state_known(request);
    } else if (step == Step::take_slot) {
      if (request.only) request.slot = slots_.take_for_recovery();
      if (!request.only) request.slot = co_await acquire_slot(request);
      outcome = on_slot(request);
    } else if (step == Step::number) {
      outcome = number_again(request);
    } else if (step == Step::connect) {
      Result<rpc::Channel*> channel = channel_for(request);
      if (!*channel) channel = co_await trunk_.ready(compound.span().slot);
      outcome = on_channel(request, std::move(channel));
    } else if (step == Step::send) {
      note_sending(request);
      co_await rpc::submit(*request.channel, compound.call());
      outcome = on_sent(request);
    } else {
      compound.set_waits_for(WaitsFor::pause);
      const bool slept = co_await pauses_.pause(request.attempt.pause());
      if (!slept) outcome = request.fail(give_up("the mount is ending"));
    }
    step = next(request, outcome);
  }
  co_return end_request(request);
}

Result<void> Session::check(Compound& compound, Attempt::Kind kind) const {
  TRY(compound.seal());
  if (kind == Attempt::Kind::ordinary && compound.operations() > limits_.max_operations) {
    return fail(Error::local(E2BIG, "COMPOUND", "more operations than ca_maxoperations"));
  }
  return {};
}

void Session::begin_request(Request& request) {
  if (request.is(Attempt::Kind::ordinary)) restart(request.waiting);
  if (request.is(Attempt::Kind::recovery)) requests_.add();
  if (!request.slot) return;
  fill_sequence(request.compound, *request.slot);
  request.compound.span().slot = request.slot->id;
}

void Session::restart(Waiting& waiting) {
  waiting.unlink();
  waiting.since = reactor_.now();
  waiting_.push_back(waiting);
}

bool Session::must_wait_for_state(const Compound& compound) const {
  return compound.state_recovering() && observer_->recovering() && !slots_.closed();
}

Outcome Session::on_state_known(Request& request) {
  if (request.compound.state_lost()) return request.fail(lost_state());
  requests_.add();
  return Outcome::state_known;
}

SlotTable::Acquire Session::acquire_slot(Request& request) {
  const rpc::Urgency urgency = request.compound.urgency();
  request.compound.set_waits_for(WaitsFor::slot);
  if (slots_.exhausted(urgency)) trunk_.hurry();  // a request that is kept has one
  return slots_.acquire(urgency);
}

Outcome Session::on_slot(Request& request) {
  Compound& compound = request.compound;
  if (slots_.closed()) return request.fail(give_up("the mount is ending"));
  if (!request.slot && request.only) {
    return request.fail(give_up("no slot is free for the recovery"));
  }
  if (!request.slot) return Outcome::session_changed;
  // It may have been lost while this request waited for its slot: without its lock it must not go
  // out in the name of the open.
  if (!request.only && compound.state_lost()) return request.fail(lost_state());
  if (!fits(compound)) return request.fail(too_large_for_session());
  compound.span().slot = request.slot->id;
  compound.span().slot_taken = reactor_.now();
  note_slot(compound);
  fill_sequence(compound, *request.slot);
  return Outcome::slot_taken;
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

Outcome Session::number_again(Request& request) {
  if (!request.slot) return slot_gone(request);
  fill_again(request.compound, *request.slot);
  return Outcome::numbered;
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

/// Null: there is none at present.
Result<rpc::Channel*> Session::channel_for(Request& request) {
  if (request.only) return request.only;
  rpc::Channel* const channel = trunk_.channel(request.compound.span().slot);
  if (!channel) request.compound.set_waits_for(WaitsFor::connection);
  return channel;
}

Outcome Session::on_channel(Request& request, Result<rpc::Channel*> channel) {
  if (!channel) return request.fail(std::move(channel.error()));
  if (!request.slot) return slot_gone(request);
  if (is_given_up(request.compound)) {
    return request.fail(Error::local(EINTR, "COMPOUND", "its caller has given it up"));
  }
  request.channel = *channel;
  return Outcome::connected;
}

// A later change of the same name may have been made and acknowledged since. What may have been
// executed is asked for to the end.
bool Session::is_given_up(Compound& compound) const {
  if (!compound.ends_with_caller() || !caller_gone_) return false;
  if (compound.unanswered() || compound.maybe_executed()) return false;
  return caller_gone_(compound.span().origin);
}

void Session::note_sending(Request& request) {
  Compound& compound = request.compound;
  request.sent_at = reactor_.now();
  if (is_waited_for(compound)) compound.call().pace = net::Pace::prompt;
  compound.note_submission(request.sent_at);
  request.slot->record_sent(request.sent_at);
  ++on_the_wire_;
}

// For its reply, for its slot, or for its turn: a request that may have ended a connection goes by
// itself.
bool Session::is_waited_for(Compound& compound) const {
  return compound.span().begun < hurried_ || slots_.waiting() > 0 || compound.unanswered();
}

Outcome Session::on_sent(Request& request) {
  if (--on_the_wire_ == 0) drain_waiters_.wake_all();
  return *request.compound.call().reply ? on_reply(request) : on_no_reply(request);
}

Outcome Session::on_no_reply(Request& request) {
  Compound& compound = request.compound;
  Error& error = compound.call().reply->error();
  if (request.slot && renewed_at_ > request.sent_at) ++request.slot->overtaken;
  compound.set_unanswered(true);
  if (request.only || error.layer != Layer::fabric || compound.call().is_poison()) {
    return request.fail(std::move(error));
  }
  resent_.add();
  // On a connection that is up still the call would be tried again and again without a pause, until
  // the provider has the resources to expose its memory.
  const bool lost = trunk_.channel(compound.span().slot) != request.channel;
  return lost ? Outcome::connection_lost : Outcome::not_sent;
}

Outcome Session::on_reply(Request& request) {
  Compound& compound = request.compound;
  compound.set_sent_at(request.sent_at);
  if (!request.slot) {
    compound.set_unanswered(true);  // with its slot went what would judge the answer
    return slot_gone(request);
  }
  request.slot->overtaken = 0;
  auto judged = judge(request);
  if (!judged) return request.fail(std::move(judged.error()));
  return *judged == Outcome::answered ? on_executed(request) : *judged;
}

/// The session has been replaced: this slot means nothing any more.
Outcome Session::slot_gone(Request& request) {
  if (request.compound.unanswered()) note_uncertain(request.compound);
  return Outcome::slot_left;
}

// SEQUENCE has succeeded: what the operations behind it say.
Outcome Session::on_executed(Request& request) {
  Compound& compound = request.compound;
  if (!request.is(Attempt::Kind::ordinary)) return Outcome::answered;
  if (!put_off_for_long(compound)) restart(request.waiting);
  if (compound.state_refused()) return Outcome::state_refused;
  const bool file_open = is_file_open(compound);
  if (!file_open && !asks_for_patience(compound)) return Outcome::answered;
  if (request.put_off.for_too_long(compound.results().status(), reactor_.now())) {
    return Outcome::answered;
  }
  return file_open ? Outcome::file_open : Outcome::put_off;
}

// DELAY is an answer as long as the server may be getting a delegation back, which takes a lease at
// most. After that a caller with a limited patience (soft) does not wait any more.
bool Session::put_off_for_long(Compound& compound) {
  if (compound.results().status() != nfs4::NFS4ERR_DELAY) return false;
  delay_report_.put_off(compound, reactor_.now());
  return reactor_.now() - compound.span().begun > limits_.lease_time;
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

Step Session::next(Request& request, Outcome outcome) {
  const Step from = request.attempt.step();
  const Step step = request.attempt.after(outcome);
  if (!request.attempt.keeps_slot()) give_back_slot(request);
  if (step == Step::fail && outcome != Outcome::failed) {
    request.error = give_up("no slot accepted the request");
  }
  if (step == Step::done || step == Step::fail) return step;
  if (outcome == Outcome::state_refused) note_refused_state(request.compound);
  if (outcome == Outcome::put_off || outcome == Outcome::file_open) {
    delayed_.add();
    ++request.compound.span().delays;
  }
  // Its memory is what others may wait for while this request waits, those of a recovery too.
  if (from == Step::send) request.compound.drop_reply();
  return step;
}

void Session::give_back_slot(Request& request) {
  if (request.slot && request.slot->in_doubt()) {
    if (!request.is(Attempt::Kind::resolution)) {
      resolve_slots();
    } else if (!slots_.closed()) {
      lose("a slot could not be resolved", /*kept=*/true);
    }
  }
  request.slot.release();
}

// A request sent before the state was recovered is simply repeated with the new stateid.
void Session::note_refused_state(Compound& compound) {
  states_refused_.add();
  if (compound.tell_refused_states()) observer_->on_state_refused();
}

Result<void> Session::end_request(Request& request) {
  Compound& compound = request.compound;
  Result<void> answered;
  if (request.attempt.step() == Step::fail) {
    answered = fail(std::move(request.error));
  } else {
    delay_report_.answered(compound, reactor_.now());
  }
  trace_.end(compound, answered, reactor_.now());
  if (!answered && compound.span().sends > 0) {
    answered.error().xid = compound.span().xid;
    answered.error().slot = compound.span().slot;
  }
  return answered;
}

}  // namespace nfsrdma::client
