#include "client/state/delegation_table.h"

#include <utility>

#include "client/mount.h"
#include "client/requests/delegreturn.h"
#include "client/session/session.h"
#include "client/state/open_table.h"

namespace nfsrdma::client {

using namespace nfs4;

DelegationRef DelegationTable::find(const FileHandle& handle) const {
  const auto found = all_.find(handle);
  return found == all_.end() ? nullptr : found->second;
}

DelegationRef DelegationTable::held(const FileHandle& handle) const {
  if (all_.empty()) return nullptr;
  DelegationRef delegation = find(handle);
  return delegation && delegation->held() ? delegation : nullptr;
}

bool DelegationTable::known(const FileHandle& handle) const {
  const DelegationRef delegation = find(handle);
  return delegation && !delegation->recovering();
}

// A server gives a client one delegation of a file. One that comes beside it is the better one
// only if it lets write; the other is returned as it is.
void DelegationTable::take(const OpenFileRef& file, const GrantedDelegation& granted,
                           const Attributes& attributes, bool preserve_unlinked) {
  DelegationRef delegation = find(file->handle());
  if (delegation && delegation->stateid_.other != granted.stateid.other) {
    const bool better = delegation->held() && granted.writes && !delegation->writes_;
    if (!better) return return_stranger(*file, granted.stateid);
    return_stranger(*file, delegation->stateid_);
  }
  if (delegation) {
    delegation->stateid_ = granted.stateid;
    delegation->writes_ = granted.writes;
  } else {
    delegation = std::make_shared<Delegation>(file->handle(), file->caller(), granted);
    all_.emplace(file->handle(), delegation);
    held_.push_back(*delegation);
    granted_.add();
  }
  delegation->change_ = attributes.change;
  delegation->size_ = attributes.size;
  delegation->fileid_ = attributes.fileid;
  delegation->preserve_unlinked_ = preserve_unlinked;
  OpenTable::attach(*file, delegation);
  if (granted.recall) start_return(delegation);
  keep_below_watermark();
}

void DelegationTable::authorize(const OpenFile& file, std::uint32_t access) {
  if (const DelegationRef delegation = held(file.handle())) {
    delegation->authorize(file.caller(), access);
  }
}

void DelegationTable::forget_admitted(const FileHandle& handle) {
  if (const DelegationRef delegation = find(handle)) delegation->authorized_.clear();
}

void DelegationTable::touch(Delegation& delegation) {
  if (delegation.phase_ != Delegation::Phase::held) return;
  delegation.unlink();
  held_.push_back(delegation);
}

// Those in use go to the end, so that each look costs little.
void DelegationTable::keep_below_watermark() {
  constexpr int kLooks = 8;
  for (int i = 0; i < kLooks && all_.size() > kWatermark && !held_.empty(); ++i) {
    Delegation& oldest = held_.front();
    if (oldest.in_use()) {
      touch(oldest);
    } else {
      return start_return(find(oldest.handle()));
    }
  }
}

nfsstat4 DelegationTable::recall(const CB_RECALL4args& args) {
  const DelegationRef delegation = find(args.fh);
  if (!delegation || delegation->stateid_.other != args.stateid.other) {
    return asking_ > 0 ? NFS4ERR_DELAY : NFS4ERR_BAD_STATEID;
  }
  recalled_.add();
  start_return(delegation);
  return NFS4_OK;
}

std::vector<Delegation*> DelegationTable::recallable(bool reading, bool writing) {
  std::vector<Delegation*> found;
  held_.for_each([&](Delegation& delegation) {
    if (delegation.writes_ ? writing : reading) found.push_back(&delegation);
  });
  return found;
}

// Those that no open file uses go first.
nfsstat4 DelegationTable::recall_any(const CB_RECALL_ANY4args& args) {
  const bool reading = args.craa_type_mask.test(RCA4_TYPE_MASK_RDATA_DLG);
  const bool writing = args.craa_type_mask.test(RCA4_TYPE_MASK_WDATA_DLG);
  const auto found = recallable(reading, writing);
  std::size_t surplus =
      found.size() > args.craa_objects_to_keep ? found.size() - args.craa_objects_to_keep : 0;
  recalled_.add(surplus);
  for (const bool used : {false, true}) {
    for (Delegation* delegation : found) {
      if (surplus == 0) return NFS4_OK;
      const bool waits = delegation->phase_ == Delegation::Phase::held;
      if (!waits || delegation->in_use() != used) continue;
      start_return(find(delegation->handle()));
      --surplus;
    }
  }
  return NFS4_OK;
}

// RFC 8881 section 10.4.3: while data are here that the server has not seen, the change attribute
// is another one than it knows.
std::optional<Attributes> DelegationTable::attributes_of(const FileHandle& handle) const {
  const DelegationRef delegation = find(handle);
  if (!delegation || !delegation->writes_) return std::nullopt;
  DelegationUser::LocalAttributes local{delegation->size_, delegation->change_, false};
  if (user_) {
    if (const auto known = user_->local_attributes(handle)) local = *known;
  }
  Attributes attributes;
  attributes.present = {FATTR4_CHANGE, FATTR4_SIZE};
  attributes.size = local.size;
  attributes.change = local.change + (local.dirty ? 1 : 0);
  return attributes;
}

void DelegationTable::start_return(const DelegationRef& delegation) {
  if (delegation->phase_ != Delegation::Phase::held) return;
  delegation->phase_ = Delegation::Phase::returning;
  delegation->unlink();
  returner_.add(*delegation);
}

void DelegationTable::return_stranger(const OpenFile& file, const stateid4& stateid) {
  mount_.session().background().start(
      delegreturn_quietly(mount_, file.caller(), file.handle(), stateid));
}

Task<void> DelegationTable::give_back(FileHandle handle) {
  const DelegationRef delegation = find(handle);
  if (!delegation) co_return;
  start_return(delegation);
  co_await returner_.done(delegation);
}

Task<void> DelegationTable::give_back_for_change(FileHandle handle) {
  const DelegationRef delegation = find(handle);
  const bool stays = !delegation || (delegation->held() && delegation->writes_);
  if (!stays) co_await give_back(handle);
}

Task<void> DelegationTable::give_back_all() {
  for (const DelegationRef& delegation : all()) start_return(delegation);
  for (const DelegationRef& delegation : all()) co_await returner_.done(delegation);
}

void DelegationTable::drop(const DelegationRef& delegation) {
  if (delegation->phase_ == Delegation::Phase::gone) return;
  const bool returned = delegation->phase_ == Delegation::Phase::returning &&
                        delegation->trouble_ == Delegation::Trouble::none;
  if (!returned) lost_.add();
  delegation->phase_ = Delegation::Phase::gone;
  delegation->trouble_ = Delegation::Trouble::none;
  delegation->unlink();
  all_.erase(delegation->handle());
  if (user_ && !returned) user_->on_delegation_ended(delegation->handle());
  for (const OpenFileRef& file : mount_.opens().detach(*delegation)) {
    mount_.session().background().start(mount_.opens().close_quietly(file));
  }
  returner_.note_gone();
}

std::vector<DelegationRef> DelegationTable::all() const {
  std::vector<DelegationRef> delegations;
  delegations.reserve(all_.size());
  for (const auto& [handle, delegation] : all_) delegations.push_back(delegation);
  return delegations;
}

void DelegationTable::visit_counters(CounterVisitor& visitor) const {
  visitor.visit("delegations", all_.size());
  visitor.visit("delegations_granted", granted_.value());
  visitor.visit("delegations_recalled", recalled_.value());
  visitor.visit("delegations_lost", lost_.value());
  visitor.visit("delegation_opens", local_opens_.value());
  visitor.visit("delegation_locks", local_locks_.value());
  returner_.visit_counters(visitor);
}

}  // namespace nfsrdma::client
