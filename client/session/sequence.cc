// What the answer to SEQUENCE means for its slot and its session (RFC 8881 sections 2.10.6.1 and
// 18.46).
#include <cerrno>

#include "client/session/session.h"
#include "transport/base/log.h"

namespace nfsrdma::client {
namespace {

/// Sessions that may be lost one after the other, without a success between, before requests fail.
constexpr std::uint32_t kMaxLossesInARow = 4;

}  // namespace

Result<Session::Verdict> Session::judge(Compound& compound, Slot& slot) {
  TRY(compound.open_reply());
  nfs4::SEQUENCE4res result;
  auto read = compound.results().read(result);
  if (!read) return judge_failure(compound, slot, std::move(read.error()));
  TRY(check_echo(result.sr_resok4, slot));
  if (renewed_at_ < compound.sent_at()) renewed_at_ = compound.sent_at();
  note_success(result.sr_resok4, slot);
  return Verdict::done;
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
  losses_in_a_row_ = 0;
  slots_.set_target(result.sr_target_highest_slotid);
  if (result.sr_status_flags == status_flags_) return;
  status_flags_ = result.sr_status_flags;
  flag_changes_.add();
  if (observer_) observer_->on_status_flags(status_flags_);
}

// None of these statuses moves the slot at the server (RFC 8881 section 18.46.3); two of them tell
// that it had been moved before.
Result<Session::Verdict> Session::judge_failure(const Compound& compound, Slot& slot, Error error) {
  if (error.layer != Layer::nfs) return fail(std::move(error));
  switch (static_cast<nfs4::nfsstat4>(error.code)) {
    case nfs4::NFS4ERR_DELAY:
      slot.record_not_taken();
      delayed_.add();
      return Verdict::again;
    case nfs4::NFS4ERR_SEQ_FALSE_RETRY: slot.record_acked(); return Verdict::renumber;
    case nfs4::NFS4ERR_RETRY_UNCACHED_REP:
      slot.record_acked();
      // It was executed and its reply is gone. What changes nothing can simply be asked again.
      if (compound.modifying()) return fail(std::move(error));
      return Verdict::renumber;
    case nfs4::NFS4ERR_BADSLOT:
    case nfs4::NFS4ERR_BAD_HIGH_SLOT:
      slot.record_not_taken();
      slots_.set_target(slot.id > 0 ? slot.id - 1 : 0);
      return Verdict::move;
    case nfs4::NFS4ERR_SEQ_MISORDERED: misordered_.add(); break;
    case nfs4::NFS4ERR_CONN_NOT_BOUND_TO_SESSION:
      slot.record_not_taken();
      if (keeper_) keeper_->drop(std::move(error));
      return Verdict::rebind;
    case nfs4::NFS4ERR_BADSESSION:
    case nfs4::NFS4ERR_DEADSESSION:
    case nfs4::NFS4ERR_STALE_CLIENTID: break;
    default: slot.record_not_taken(); return fail(std::move(error));
  }
  slot.record_not_taken();
  if (losses_in_a_row_ >= kMaxLossesInARow) return fail(std::move(error));
  lose(nfs4::status_name(static_cast<nfs4::nfsstat4>(error.code)).data());
  return Verdict::rebind;
}

}  // namespace nfsrdma::client
