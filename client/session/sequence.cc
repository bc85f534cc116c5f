// Judges the result of SEQUENCE for its slot and its session (RFC 8881 sections 2.10.6.1 and
// 18.46), and resolves slots that were left without an answer.

#include "client/proto/compound.h"
#include "client/session/session.h"
#include "transport/base/log.h"

namespace nfsrdma::client {

// Only a request that can wait for another session recovers from SEQUENCE's failures.
Result<Outcome> Session::judge(Request& request) {
  Compound& compound = request.compound;
  if (request.is(Attempt::Kind::resolution)) return judge_resolution(compound, *request.slot);
  auto judged = judge_sequence(compound, *request.slot);
  if (judged || request.is(Attempt::Kind::recovery)) return judged;
  return recover_from(compound, std::move(judged.error()));
}

Result<Outcome> Session::judge_sequence(Compound& compound, Slot& slot) {
  TRY(compound.open_reply());
  nfs4::SEQUENCE4res result;
  auto read = compound.results().read(result);
  if (!read) return judge_failure(compound, slot, std::move(read.error()));
  compound.set_unanswered(false);
  TRY(check_echo(result.sr_resok4, slot));
  // Servers answer SEQUENCE itself from their cache and put this in the result behind it
  // (RFC 8881 section 2.10.6.1.3).
  constexpr auto kUncached = nfs4::NFS4ERR_RETRY_UNCACHED_REP;
  if (compound.results().status() == kUncached) {
    return judge_failure(compound, slot, Error{Layer::nfs, kUncached, "SEQUENCE", {}});
  }
  note_renewal(compound.sent_at());
  note_success(result.sr_resok4, slot);
  return Outcome::answered;
}

Result<void> Session::check_echo(const nfs4::SEQUENCE4resok& result, const Slot& slot) const {
  if (result.sr_sessionid == id_ && result.sr_slotid == slot.id &&
      result.sr_sequenceid == slot.seq_nr) {
    return {};
  }
  return fail(Error{Layer::decode, static_cast<int>(xdr::Fault::unexpected), "SEQUENCE",
                    "the answer is for another session, slot or sequence number"});
}

void Session::note_success(const nfs4::SEQUENCE4resok& result, Slot& slot) {
  slot.record_acked();
  slots_.set_target(result.sr_target_highest_slotid);
  const bool changed = result.sr_status_flags != status_flags_;
  if (!changed && status_flags_ == 0) return;
  if (changed) flag_changes_.add();
  status_flags_ = result.sr_status_flags;
  observer_->on_status_flags(status_flags_);
}

// None of these statuses moves the slot at the server (RFC 8881 section 18.46.3); two of them tell
// that it had been moved before. A request that was sent on an earlier connection already may have
// moved it then: its slot stays in doubt.
Result<Outcome> Session::judge_failure(Compound& compound, Slot& slot, Error error) {
  if (error.layer != Layer::nfs) return fail(std::move(error));
  const auto status = static_cast<nfs4::nfsstat4>(error.code);
  const bool moved =
      status == nfs4::NFS4ERR_SEQ_FALSE_RETRY || status == nfs4::NFS4ERR_RETRY_UNCACHED_REP;
  if (moved) {
    slot.record_acked();
    // It was executed and its reply is gone, or the request that has the number is this one, on a
    // connection that is lost: a change is repeated as one that may be done already.
    if (status == nfs4::NFS4ERR_RETRY_UNCACHED_REP || compound.unanswered()) {
      note_uncertain(compound);
    }
    return Outcome::slot_left;
  }
  if (!compound.unanswered()) slot.record_not_taken();
  switch (status) {
    case nfs4::NFS4ERR_DELAY: delayed_.add(); return Outcome::sequence_delayed;
    case nfs4::NFS4ERR_BADSLOT:
    case nfs4::NFS4ERR_BAD_HIGH_SLOT:
      slots_.set_target(slot.id > 0 ? slot.id - 1 : 0);
      if (compound.unanswered()) note_uncertain(compound);
      slot.record_not_taken();
      return Outcome::slot_left;
    case nfs4::NFS4ERR_SEQ_MISORDERED:
      misordered_.add();
      if (!slot.retired || compound.unanswered()) return fail(std::move(error));
      slot.start_over();
      return Outcome::corrected;
    default: return fail(std::move(error));
  }
}

// The number that it was sent with will not get its answer any more; another one begins afresh.
void Session::note_uncertain(Compound& compound) {
  if (compound.modifying()) uncertain_.add();
  compound.set_maybe_executed();
  compound.set_unanswered(false);
}

Result<Outcome> Session::recover_from(Compound& compound, Error error) {
  if (error.layer != Layer::nfs) return fail(std::move(error));
  switch (static_cast<nfs4::nfsstat4>(error.code)) {
    case nfs4::NFS4ERR_CONN_NOT_BOUND_TO_SESSION:
      observer_->on_not_bound();
      return Outcome::corrected;
    case nfs4::NFS4ERR_BADSESSION:
    case nfs4::NFS4ERR_DEADSESSION:
    case nfs4::NFS4ERR_STALE_CLIENTID:
    case nfs4::NFS4ERR_SEQ_MISORDERED: break;
    default: return fail(std::move(error));
  }
  if (compound.unanswered()) note_uncertain(compound);
  lose(nfs4::status_name(static_cast<nfs4::nfsstat4>(error.code)).data(),
       /*kept=*/error.code == nfs4::NFS4ERR_SEQ_MISORDERED);
  return Outcome::slot_left;
}

// Settling runs by itself, so that the operation that failed need not wait for it.
void Session::resolve_slots() {
  if (resolving_ || slots_.closed()) return;
  resolving_ = true;
  background_.start(resolve_in_doubt());
}

Task<void> Session::resolve_in_doubt() {
  // The slot in question is given back by its request only after this was started.
  co_await pauses_.pause(Backoff::kFirst);
  for (;;) {
    Terms terms;
    terms.kind = Attempt::Kind::resolution;
    terms.slot = co_await next_in_doubt();
    const CompoundRef compound = terms.slot ? compounds_.acquire_reserved() : CompoundRef{};
    if (!compound) break;
    compound->begin(caller_, compounds_.machine_name());
    compound->call().blameless = true;  // as in renew(), which it would hold up
    auto done = co_await run(*compound, std::move(terms));
    if (done) resolved_.add();
    if (lost_ || slots_.closed()) break;
  }
  resolving_ = false;
}

// None is given out until a new connection is bound. Nobody else would look at a slot later.
Task<SlotHold> Session::next_in_doubt() {
  Backoff backoff;
  while (!slots_.is_open()) {
    const bool slept = co_await pauses_.pause(backoff.next());
    if (!slept) co_return SlotHold{};
  }
  co_return slots_.take_in_doubt();
}

// The lone SEQUENCE asks whether the server has taken this number. It has if SEQUENCE succeeds, if
// the cached reply of the request before comes, or if a false retry is refused. DELAY: the request
// is still being executed. The slot is kept meanwhile: no other request would look at it again.
Result<Outcome> Session::judge_resolution(Compound& compound, Slot& slot) {
  xdr::Decoder& in = (*compound.call().reply)->results;
  nfs4::COMPOUND4res_header header;
  nfs4::decode(in, header);
  nfs4::SEQUENCE4res result;
  const std::uint32_t answered = in.u32("resop");
  if (answered == nfs4::OP_SEQUENCE) {
    nfs4::decode(in, result);
  } else if (answered == nfs4::OP_ILLEGAL) {  // the server does not know the operation
    nfs4::Decode{in}("ILLEGAL status", result.sr_status);
    result.sr_status = nfs4::NFS4ERR_OP_ILLEGAL;
  } else {
    in.set_fault(xdr::Fault::unexpected, "resop");
  }
  TRY(in.status("SEQUENCE"));
  if (result.sr_status == nfs4::NFS4ERR_DELAY) return Outcome::sequence_delayed;
  const bool taken = result.sr_status == nfs4::NFS4_OK ||
                     result.sr_status == nfs4::NFS4ERR_SEQ_FALSE_RETRY ||
                     result.sr_status == nfs4::NFS4ERR_RETRY_UNCACHED_REP;
  if (!taken) return fail(Error{Layer::nfs, static_cast<int>(result.sr_status), "SEQUENCE", {}});
  if (result.sr_status == nfs4::NFS4_OK) TRY(check_echo(result.sr_resok4, slot));
  slot.record_acked();
  return Outcome::answered;
}

}  // namespace nfsrdma::client
