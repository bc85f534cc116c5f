#include "client/state/delegation_table.h"

namespace nfsrdma::client {

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

std::vector<DelegationRef> DelegationTable::all() const {
  std::vector<DelegationRef> delegations;
  delegations.reserve(all_.size());
  for (const auto& [handle, delegation] : all_) delegations.push_back(delegation);
  return delegations;
}

DelegationRef DelegationTable::put(const FileHandle& handle, const Credential& caller,
                                   const GrantedDelegation& granted, const Attributes& attributes,
                                   bool preserve_unlinked) {
  DelegationRef delegation = find(handle);
  if (delegation) {
    delegation->stateid_ = granted.stateid;
    delegation->writes_ = granted.writes;
  } else {
    delegation = std::make_shared<Delegation>(handle, caller, granted);
    all_.emplace(handle, delegation);
    held_.push_back(*delegation);
    granted_.add();
  }
  delegation->change_ = attributes.change;
  delegation->size_ = attributes.size;
  delegation->fileid_ = attributes.fileid;
  delegation->preserve_unlinked_ = preserve_unlinked;
  return delegation;
}

void DelegationTable::authorize(const FileHandle& handle, const Credential& caller,
                                std::uint32_t access) {
  if (const DelegationRef delegation = held(handle)) delegation->authorize(caller, access);
}

void DelegationTable::forget_authorized(const FileHandle& handle) {
  if (const DelegationRef delegation = find(handle)) delegation->authorized_.clear();
}

void DelegationTable::note_size(const FileHandle& handle, std::optional<std::uint64_t> size) {
  if (!size) return;
  if (const DelegationRef delegation = find(handle)) delegation->resized(*size);
}

void DelegationTable::touch(Delegation& delegation) {
  if (delegation.phase_ != Delegation::Phase::held) return;
  delegation.unlink();
  held_.push_back(delegation);
}

std::vector<Delegation*> DelegationTable::recallable(bool reading, bool writing) {
  std::vector<Delegation*> found;
  held_.for_each([&](Delegation& delegation) {
    if (delegation.writes_ ? writing : reading) found.push_back(&delegation);
  });
  return found;
}

// Those in use go to the end, so that each look costs little.
DelegationRef DelegationTable::unused() {
  constexpr int kLooks = 8;
  for (int i = 0; i < kLooks && !held_.empty(); ++i) {
    Delegation& oldest = held_.front();
    if (!oldest.in_use()) return find(oldest.handle());
    touch(oldest);
  }
  return nullptr;
}

bool DelegationTable::begin_return(Delegation& delegation) {
  if (delegation.phase_ != Delegation::Phase::held) return false;
  delegation.phase_ = Delegation::Phase::returning;
  delegation.unlink();
  return true;
}

bool DelegationTable::end(Delegation& delegation) {
  const bool returned = delegation.phase_ == Delegation::Phase::returning &&
                        delegation.trouble_ == Delegation::Trouble::none;
  if (!returned) lost_.add();
  delegation.phase_ = Delegation::Phase::gone;
  delegation.trouble_ = Delegation::Trouble::none;
  delegation.unlink();
  all_.erase(delegation.handle());
  return !returned;
}

void DelegationTable::visit_counters(CounterVisitor& visitor) const {
  visitor.visit("delegations", all_.size());
  visitor.visit("delegations_granted", granted_.value());
  visitor.visit("delegations_lost", lost_.value());
  visitor.visit("delegation_opens", local_opens_.value());
  visitor.visit("delegation_locks", local_locks_.value());
}

}  // namespace nfsrdma::client
