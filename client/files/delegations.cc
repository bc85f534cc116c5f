#include "client/files/delegations.h"

#include <algorithm>

#include "client/files/files.h"
#include "client/requests/delegreturn.h"
#include "transport/base/log.h"

namespace nfsrdma::client {

using namespace nfs4;

Delegations::Delegations(Files& files)
    : files_(files), table_(files.delegation_table), returner_(files) {}

// A server gives a client one delegation of a file. One that comes beside it is the better one
// only if it lets write; the other is returned as it is.
void Delegations::take(const OpenFileRef& file, const GrantedDelegation& granted,
                       const Attributes& attributes, bool preserve_unlinked) {
  if (is_stray(granted.stateid)) return;  // granted once more, and about to end
  const DelegationRef known = table_.find(file->handle());
  if (known && known->newest_stateid().other != granted.stateid.other) {
    const bool better = known->held() && granted.writes && !known->writes();
    if (!better) return return_stranger(*file, granted.stateid);
    return_stranger(*file, known->newest_stateid());
  }
  const DelegationRef delegation =
      table_.put(file->handle(), file->caller(), granted, attributes, preserve_unlinked);
  OpenTable::attach(*file, delegation);
  if (granted.recall) start_return(delegation);
  if (table_.size() <= kWatermark) return;
  if (const DelegationRef unused = table_.unused()) start_return(unused);
}

nfsstat4 Delegations::recall(const CB_RECALL4args& args) {
  const DelegationRef delegation = table_.find(args.fh);
  if (!delegation || delegation->newest_stateid().other != args.stateid.other) {
    const bool may_come = asking_ > 0 || (delegation && delegation->recovering());
    return may_come ? NFS4ERR_DELAY : return_stray(args.fh, args.stateid);
  }
  recalled_.add();
  start_return(delegation);
  return NFS4_OK;
}

// The server grants it, and the reply is lost: NFS4ERR_BAD_STATEID would leave it there until it is
// revoked, with whoever made the server recall it waiting, and SEQ4_STATUS_RECALLABLE_STATE_REVOKED
// set for good.
nfsstat4 Delegations::return_stray(const FileHandle& file, const stateid4& stateid) {
  if (is_stray(stateid)) return NFS4_OK;
  if (strays_.size() >= kMostStrays) return NFS4ERR_DELAY;
  recalled_.add();
  strays_.push_back(stateid);
  files_.context.session.background().start(return_stray_quietly(file, stateid));
  return NFS4_OK;
}

Task<void> Delegations::return_stray_quietly(FileHandle file, stateid4 stateid) {
  Credential caller;
  files_.open_table.for_each_of(file, [&](const OpenFile& open) { caller = open.caller(); });
  auto returned = co_await delegreturn(files_.context, caller, file, stateid);
  if (!returned) log::debug("a delegation that is not known: {}", returned.error().message());
  std::erase_if(strays_, [&](const stateid4& stray) { return stray.other == stateid.other; });
}

bool Delegations::is_stray(const stateid4& stateid) const {
  return std::ranges::any_of(strays_,
                             [&](const stateid4& stray) { return stray.other == stateid.other; });
}

// Those that no open file uses go first.
nfsstat4 Delegations::recall_any(const CB_RECALL_ANY4args& args) {
  const bool reading = args.craa_type_mask.test(RCA4_TYPE_MASK_RDATA_DLG);
  const bool writing = args.craa_type_mask.test(RCA4_TYPE_MASK_WDATA_DLG);
  const auto found = table_.recallable(reading, writing);
  std::size_t surplus =
      found.size() > args.craa_objects_to_keep ? found.size() - args.craa_objects_to_keep : 0;
  recalled_.add(surplus);
  for (const bool used : {false, true}) {
    for (Delegation* delegation : found) {
      if (surplus == 0) return NFS4_OK;
      if (!delegation->relied_upon() || delegation->in_use() != used) continue;
      start_return(table_.find(delegation->handle()));
      --surplus;
    }
  }
  return NFS4_OK;
}

// RFC 8881 section 10.4.3: while data are here that the server has not seen, the change attribute
// is another one than it knows.
std::optional<Attributes> Delegations::attributes_of(const FileHandle& handle) const {
  const DelegationRef delegation = table_.find(handle);
  if (!delegation || !delegation->writes()) return std::nullopt;
  DelegationUser::LocalAttributes local{delegation->size(), delegation->change(), false};
  if (user_) {
    if (const auto known = user_->local_attributes(handle)) local = *known;
  }
  Attributes attributes;
  attributes.present = {FATTR4_CHANGE, FATTR4_SIZE};
  attributes.size = std::max(local.size, delegation->least_size());
  attributes.change = local.change + (local.dirty ? 1 : 0);
  return attributes;
}

void Delegations::start_return(const DelegationRef& delegation) {
  if (table_.begin_return(*delegation)) returner_.add(*delegation);
}

void Delegations::return_stranger(const OpenFile& file, const stateid4& stateid) {
  files_.context.session.background().start(
      delegreturn_quietly(files_.context, file.caller(), file.handle(), stateid));
}

Task<void> Delegations::give_back(FileHandle handle) {
  const DelegationRef delegation = table_.find(handle);
  if (!delegation) co_return;
  start_return(delegation);
  co_await returner_.done(delegation);
}

Task<void> Delegations::give_back_for_change(FileHandle handle) {
  if (!survives_change(handle)) co_await give_back(handle);
}

bool Delegations::survives_change(const FileHandle& handle) const {
  const DelegationRef delegation = table_.find(handle);
  return !delegation || (delegation->held() && delegation->writes());
}

std::size_t Delegations::start_returns() {
  const auto all = table_.all();
  for (const DelegationRef& delegation : all) start_return(delegation);
  return all.size();
}

Task<void> Delegations::give_back_all() {
  const auto all = table_.all();
  for (const DelegationRef& delegation : all) start_return(delegation);
  for (const DelegationRef& delegation : all) co_await returner_.done(delegation);
}

void Delegations::drop(const DelegationRef& delegation) {
  if (delegation->lost()) return;
  const bool lost = table_.end(*delegation);
  if (user_ && lost) user_->on_delegation_ended(delegation->handle());
  for (const OpenFileRef& file : files_.opens.detach(*delegation)) {
    files_.context.session.background().start(files_.opens.narrow_quietly(file));
  }
  returner_.note_gone();
}

void Delegations::visit_counters(CounterVisitor& visitor) const {
  table_.visit_counters(visitor);
  visitor.visit("delegations_recalled", recalled_.value());
  returner_.visit_counters(visitor);
}

}  // namespace nfsrdma::client
