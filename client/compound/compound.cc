#include "client/compound/compound.h"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <utility>

#include "client/proto/compound.h"

namespace nfsrdma::client {
namespace {

/// COMPOUND4res before its array: status, a tag as empty as ours, the count.
constexpr std::size_t kCompoundReplyHeader = 3 * xdr::kUnit;
constexpr std::size_t kResultHeader = 2 * xdr::kUnit;  // operation number and status

/// Whether an operation was failed for its stateid.
bool is_refusal(nfs4::nfsstat4 status) {
  switch (status) {
    case nfs4::NFS4ERR_BAD_STATEID:
    case nfs4::NFS4ERR_STALE_STATEID:
    case nfs4::NFS4ERR_OLD_STATEID:
    case nfs4::NFS4ERR_EXPIRED:
    case nfs4::NFS4ERR_ADMIN_REVOKED:
    case nfs4::NFS4ERR_DELEG_REVOKED: return true;
    default: return false;
  }
}

}  // namespace

void Compound::begin(const Credential& caller, std::string_view machine_name) {
  start(caller, machine_name);
  sequence_at_ = call_.encoder.size() + xdr::kUnit;  // behind its number
  add(nfs4::SEQUENCE4args{});
}

void Compound::begin_unsequenced(const Credential& caller, std::string_view machine_name) {
  start(caller, machine_name);
}

void Compound::start(const Credential& caller, std::string_view machine_name) {
  clear();
  reader_ = {};
  call_.urgency = urgency_;
  unanswered_ = maybe_executed_ = divisible_ = ends_with_caller_ = false;
  count_ = first_modifying_ = 0;
  modifying_ = false;
  sequence_at_ = 0;
  max_reply_ = rpc::kAcceptedReplyHeader + kCompoundReplyHeader;
  rpc::encode_call_header(call_.encoder, 0, rpc::kNfsProgram, rpc::kNfsVersion4,
                          nfs4::kProcCompound, caller, machine_name);
  call_.encoder.string("");  // tag
  call_.encoder.u32(nfs4::kNfsMinorVersion1);
  count_at_ = call_.encoder.placeholder();
}

void Compound::append(nfs4::nfs_opnum4 opnum, const nfs4::OperationFacts& facts,
                      std::size_t max_result) {
  if (facts.effect == nfs4::Effect::changes && !modifying_) {
    modifying_ = true;
    first_modifying_ = count_;
  }
  if (count_ < kMaxOperations) asked_[count_] = opnum;
  max_reply_ += kResultHeader + xdr::padded(max_result);
  call_.encoder.u32(opnum);
  [[maybe_unused]] std::uint32_t named = 0;
  for (UsedState& used : states_) {
    if (!used.holder || used.at != 0) continue;
    used.at = call_.encoder.size() + used.bytes_before;
    used.index = count_;
    ++named;
  }
  assert(named <= facts.states);
  ++count_;
}

void Compound::use_state(StateRef state, std::size_t bytes_before) {
  if (!state) return;
  const auto free = std::find_if(states_.begin(), states_.end(),
                                 [](const UsedState& used) { return !used.holder; });
  assert(free != states_.end());
  free->holder = std::move(state);
  free->bytes_before = bytes_before;
}

void Compound::set_stateids() {
  for (UsedState& used : states_) {
    if (used.at == 0) continue;
    used.sent = used.holder->stateid();
    xdr::Encoder in_place(call_.head_memory().subspan(used.at));
    nfs4::encode(in_place, used.sent);
  }
}

bool Compound::state_lost() const {
  return std::any_of(states_.begin(), states_.end(),
                     [](const UsedState& used) { return used.holder && used.holder->lost(); });
}

bool Compound::state_recovering() const {
  return std::any_of(states_.begin(), states_.end(), [](const UsedState& used) {
    return used.holder && used.holder->recovering();
  });
}

bool Compound::is_refused(const UsedState& used) const {
  return used.at != 0 && used.index == reader_.last_index() && is_refusal(reader_.status());
}

bool Compound::state_refused() const {
  return std::any_of(states_.begin(), states_.end(),
                     [this](const UsedState& used) { return is_refused(used); });
}

bool Compound::tell_refused_states() {
  bool told = false;
  for (const UsedState& used : states_) {
    if (!is_refused(used) || used.holder->stateid() != used.sent) continue;
    used.holder->on_refused(reader_.status());
    told = true;
  }
  return told;
}

Result<void> Compound::seal() {
  if (count_ > kMaxOperations) return fail(Error::local(E2BIG, "COMPOUND", "too many operations"));
  call_.encoder.patch(count_at_, count_);
  if (!call_.encoder.ok()) {
    return fail(Error::local(ENAMETOOLONG, "COMPOUND", "the arguments do not fit one message"));
  }
  call_.max_reply = max_reply_;
  return {};
}

void Compound::set_xid(std::uint32_t xid) {
  call_.encoder.patch(0, xid);
  call_.xid = xid;
  call_.losses = {};
}

void Compound::set_sequence(const nfs4::SEQUENCE4args& args) {
  xdr::Encoder in_place(call_.head_memory().subspan(sequence_at_));
  nfs4::encode(in_place, args);
}

Result<void> Compound::open_reply() {
  reader_.set_request(call_.xid, sequence_at_ == 0 ? Error::kNoSlot : span_.slot);
  return reader_.open((*call_.reply)->results, {asked_.data(), count_});
}

}  // namespace nfsrdma::client
