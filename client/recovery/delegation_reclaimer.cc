#include "client/recovery/delegation_reclaimer.h"

#include <algorithm>
#include <cerrno>

#include "client/compound/result_sizes.h"
#include "client/mount.h"
#include "client/ops/steps.h"
#include "client/proto/ops_lock.h"
#include "client/session/session.h"
#include "client/state/delegation_table.h"
#include "client/state/open_table.h"
#include "transport/base/log.h"

namespace nfsrdma::client {

using namespace nfs4;

void DelegationReclaimer::on_all_forgotten() {
  mount_.opens().forget_kept();
  for (const DelegationRef& delegation : mount_.delegations().all()) {
    delegation->trouble_ = Delegation::Trouble::forgotten;
    if (!delegation->in_use()) mount_.delegations().drop(delegation);
  }
}

// The opens bring them back.
Task<Result<void>> DelegationReclaimer::reclaim(rpc::Channel&) { co_return Result<void>{}; }

Task<void> DelegationReclaimer::mend() {
  for (const DelegationRef& delegation : mount_.delegations().all()) {
    if (!delegation->recovering() || delegation->lost()) continue;
    if (delegation->trouble_ == Delegation::Trouble::revoked) co_await free(delegation);
    log::info("a delegation is lost");
    mount_.delegations().drop(delegation);
    mount_.session().recovery_ended();
  }
}

Task<void> DelegationReclaimer::find_revoked() {
  const Batch all = mount_.delegations().all();
  for (std::size_t at = 0; at < all.size(); at += kTestBatch) {
    const std::size_t end = std::min(all.size(), at + kTestBatch);
    auto tested = co_await test(Batch(all.begin() + static_cast<std::ptrdiff_t>(at),
                                      all.begin() + static_cast<std::ptrdiff_t>(end)));
    if (tested) continue;
    log::warning("{}", tested.error().message());
    co_return;
  }
}

Task<Result<void>> DelegationReclaimer::test(Batch batch) {
  CompoundRef compound = begin(mount_.config().caller);
  if (!compound) co_return fail(Error::local(ENOMEM, "TEST_STATEID", "no message slot is free"));
  TEST_STATEID4args args;
  for (const DelegationRef& delegation : batch) args.ts_stateids.push_back(delegation->stateid());
  const std::vector<stateid4> sent = args.ts_stateids;
  compound->add(args, result_size::kWord * (1 + batch.size()));
  auto answered = co_await mount_.session().execute(*compound, mount_.lease_time());
  CO_TRY(answered);
  TEST_STATEID4res result;
  auto read = compound->results().read(result);
  CO_TRY(read);
  const auto& codes = result.tsr_resok4.tsr_status_codes;
  tested_.add(batch.size());
  for (std::size_t i = 0; i < std::min(codes.size(), batch.size()); ++i) {
    const bool current = batch[i]->stateid() == sent[i] && !batch[i]->lost();
    if (codes[i] != NFS4_OK && current) batch[i]->on_refused(codes[i]);
  }
  co_return Result<void>{};
}

// What the server answers makes no difference: the stateid is not used again.
Task<void> DelegationReclaimer::free(DelegationRef delegation) {
  CompoundRef compound = begin(delegation->caller());
  if (!compound) co_return;
  compound->add_modifying(FREE_STATEID4args{delegation->stateid()}, result_size::kNothing);
  auto answered = co_await mount_.session().execute(*compound, mount_.lease_time());
  if (answered) freed_.add();
}

CompoundRef DelegationReclaimer::begin(const Caller& caller) {
  CompoundRef compound = compounds_.acquire_reserved();
  if (compound) compound->begin(caller, compounds_.machine_name());
  return compound;
}

std::size_t DelegationReclaimer::pending() const {
  const Batch all = mount_.delegations().all();
  return static_cast<std::size_t>(std::ranges::count_if(
      all, [](const DelegationRef& delegation) { return delegation->recovering(); }));
}

void DelegationReclaimer::visit_counters(CounterVisitor& visitor) const {
  visitor.visit("delegations_tested", tested_.value());
  visitor.visit("delegations_freed", freed_.value());
}

}  // namespace nfsrdma::client
