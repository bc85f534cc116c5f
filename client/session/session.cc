#include "client/session/session.h"

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>

#include "transport/base/log.h"

namespace nfsrdma::client {
namespace {

/// A shorter one is counted together with the next. Two clocks that are read one after the other on
/// a busy machine differ, too.
constexpr Duration kShortestSuspension = std::chrono::seconds(1);

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

Task<Result<void>> Session::execute(Compound& compound, Patience patience) {
  Terms terms;
  terms.patience = patience;
  return run(compound, std::move(terms));
}

Task<Result<void>> Session::execute_on(rpc::Channel& channel, Compound& compound) {
  Terms terms;
  terms.kind = Attempt::Kind::recovery;
  terms.only = &channel;
  return run(compound, std::move(terms));
}

LongestWait Session::longest_wait() {
  if (waiting_.empty()) return {nullptr, reactor_.now()};
  return {&waiting_.front().compound, waiting_.front().since};
}

void Session::hurry() {
  hurried_ = std::max(hurried_, reactor_.now());
  trunk_.hurry();
}

void Session::hurry_always() {
  hurried_ = TimePoint::max();
  trunk_.hurry();
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
