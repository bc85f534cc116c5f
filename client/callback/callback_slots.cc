#include "client/callback/callback_slots.h"

namespace nfsrdma::client {

void CallbackSlots::reset(const nfs4::sessionid4& id, const nfs4::channel_attrs4& back) {
  // Of the session's attributes; CREATE_SESSION's result was checked against our limits.
  constexpr std::uint32_t kMostSlots = 64;
  id_ = id;
  max_operations_ = back.ca_maxoperations;
  max_cached_ = back.ca_maxresponsesize_cached;
  slots_.assign(std::clamp(back.ca_maxrequests, 1U, kMostSlots), Slot{});
}

CallbackSlots::Judgement CallbackSlots::judge(const nfs4::CB_SEQUENCE4args& args,
                                              std::uint64_t fingerprint) {
  using namespace nfs4;
  if (slots_.empty() || args.csa_sessionid != id_) return {Kind::refused, NFS4ERR_BADSESSION};
  if (args.csa_slotid >= slots_.size()) return {Kind::refused, NFS4ERR_BADSLOT};
  if (args.csa_highest_slotid >= slots_.size()) return {Kind::refused, NFS4ERR_BAD_HIGH_SLOT};
  Slot& slot = slots_[args.csa_slotid];
  if (args.csa_sequenceid == slot.seq + 1) {
    slot.seq = args.csa_sequenceid;
    slot.fingerprint = fingerprint;
    slot.cached = false;
    return {Kind::fresh, NFS4_OK};
  }
  if (args.csa_sequenceid != slot.seq) return {Kind::refused, NFS4ERR_SEQ_MISORDERED};
  if (fingerprint != slot.fingerprint) return {Kind::refused, NFS4ERR_SEQ_FALSE_RETRY};
  if (!slot.cached) return {Kind::refused, NFS4ERR_RETRY_UNCACHED_REP};
  return {Kind::replay, NFS4_OK};
}

void CallbackSlots::finish(nfs4::slotid4 slot_id, std::span<const std::byte> result) {
  Slot& slot = slots_[slot_id];
  slot.cached = result.size() <= max_cached_;
  if (slot.cached) slot.result.assign(result.begin(), result.end());
}

}  // namespace nfsrdma::client
