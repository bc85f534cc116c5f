#include "client/session/session.h"

#include <cerrno>

#include <fmt/format.h>

#include "client/session/exchange.h"
#include "transport/base/log.h"

namespace nfsrdma::client {
namespace {

/// New numbers or slots that one request may try.
constexpr int kMaxTries = 8;

}  // namespace

Session::Session(Reactor& reactor, CompoundPool& compounds, const Caller& caller)
    : reactor_(reactor),
      compounds_(compounds),
      caller_(caller),
      slots_(reactor),
      pauses_(reactor),
      background_(reactor) {}

Task<Result<void>> Session::execute(Compound& compound) {
  auto sealed = compound.seal();
  CO_TRY(sealed);
  if (compound.operations() > limits_.max_operations) {
    co_return fail(Error::local(E2BIG, "COMPOUND", "more operations than ca_maxoperations"));
  }
  Backoff backoff;
  for (;;) {
    auto answered = co_await perform(compound, nullptr);
    CO_TRY(answered);
    if (!asks_for_patience(compound)) co_return answered;
    delayed_.add();
    const bool slept = co_await pauses_.pause(backoff.next());
    if (!slept) co_return fail(give_up("the mount is ending"));
  }
}

Task<Result<void>> Session::execute_on(rpc::Channel& channel, Compound& compound) {
  auto sealed = compound.seal();
  CO_TRY(sealed);
  auto answered = co_await perform(compound, &channel);
  co_return answered;
}

bool Session::asks_for_patience(const Compound& compound) const {
  const CompoundReader& results = compound.results();
  const bool wait =
      results.status() == nfs4::NFS4ERR_DELAY || results.status() == nfs4::NFS4ERR_GRACE;
  return wait && compound.repeatable_after(results.last_index());
}

// One request until SEQUENCE has succeeded or there is no hope: slot by slot, number by number.
Task<Result<void>> Session::perform(Compound& compound, rpc::Channel* only) {
  requests_.add();
  int tries = 0;
  while (tries < kMaxTries) {
    SlotHold slot = co_await slots_.acquire(compound.urgency());
    if (slots_.closed()) co_return fail(give_up("the mount is ending"));
    if (!slot) continue;  // the session changed while this request waited
    auto verdict = co_await perform_once(compound, slot, only);
    if (slot && slot->unsettled()) settle_slots();
    CO_TRY(verdict);
    if (*verdict == Verdict::done) co_return Result<void>{};
    if (only) break;  // on a connection of one's own there is no other try
    ++tries;
  }
  co_return fail(give_up("no slot accepted the request"));
}

Task<Result<Session::Verdict>> Session::perform_once(Compound& compound, SlotHold& slot,
                                                     rpc::Channel* only) {
  Backoff backoff;
  for (;;) {
    fill_sequence(compound, *slot);
    auto sent = co_await transmit(compound, slot, only);
    CO_TRY(sent);
    if (!slot) co_return Verdict::move;
    auto verdict = judge(compound, *slot);
    if (!verdict || *verdict != Verdict::again) co_return verdict;
    const bool slept = co_await pauses_.pause(backoff.next());
    if (!slept) co_return fail(give_up("the mount is ending"));
    if (!slot) co_return Verdict::move;
  }
}

void Session::fill_sequence(Compound& compound, const Slot& slot) {
  nfs4::SEQUENCE4args args;
  args.sa_sessionid = id_;
  args.sa_sequenceid = slot.seq_nr;
  args.sa_slotid = slot.id;
  args.sa_highest_slotid = slots_.highest_used();
  args.sa_cachethis = compound.modifying() && compound.max_reply() <= limits_.max_cached;
  compound.set_sequence(args);
  compound.set_xid(compounds_.next_xid());
}

// Until there is a reply: the same octets on one connection after the other.
Task<Result<void>> Session::transmit(Compound& compound, SlotHold& slot, rpc::Channel* only) {
  rpc::Call& call = compound.call();
  for (;;) {
    rpc::Channel* channel = only ? only : keeper_->channel();
    if (!channel) {
      auto ready = co_await keeper_->ready();
      CO_TRY(ready);
      channel = *ready;
    }
    if (!slot) co_return Result<void>{};  // another session: this slot means nothing any more
    slot->record_sent();
    const TimePoint sent_at = reactor_.now();
    co_await rpc::submit(*channel, call);
    Result<rpc::Reply>& reply = *call.reply;
    if (reply) {
      compound.set_sent_at(sent_at);
      co_return Result<void>{};
    }
    if (only || reply.error().layer != Layer::fabric || call.deadly()) {
      co_return fail(reply.error());
    }
    resent_.add();
  }
}

Task<Result<void>> Session::renew() {
  CompoundRef compound = compounds_.acquire_reserved();
  if (!compound) co_return fail(give_up("no request is free for the lease renewal"));
  compound->begin(caller_, compounds_.machine_name());
  auto answered = co_await execute(*compound);
  CO_TRY(answered);
  co_return compound->results().finish();
}

void Session::begin(const nfs4::sessionid4& id, const nfs4::channel_attrs4& fore) {
  id_ = id;
  begun_ = true;
  lost_ = false;
  status_flags_ = 0;
  slots_.reset(fore.ca_maxrequests);
}

void Session::lose(const char* reason) {
  if (lost_) return;
  lost_ = true;
  ++losses_in_a_row_;
  lost_sessions_.add();
  log::warning("the session was lost: {}", reason);
  if (keeper_) keeper_->drop(Error::local(ENOTCONN, "session", reason));
}

Error Session::give_up(const char* why) const { return Error::local(EIO, "SEQUENCE", why); }

void Session::shut_down() {
  pauses_.interrupt();
  slots_.close();
  compounds_.close();
}

void Session::visit_counters(CounterVisitor& visitor) const {
  visitor.visit("session_requests", requests_.value());
  visitor.visit("session_requests_resent", resent_.value());
  visitor.visit("session_requests_delayed", delayed_.value());
  visitor.visit("session_slots_misordered", misordered_.value());
  visitor.visit("session_slots_settled", settled_.value());
  visitor.visit("session_slots_usable", slots_.usable());
  visitor.visit("session_slots_in_use", slots_.in_use());
  visitor.visit("session_losses", lost_sessions_.value());
  visitor.visit("session_status_flag_changes", flag_changes_.value());
}

}  // namespace nfsrdma::client
