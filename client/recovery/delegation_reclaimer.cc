#include "client/recovery/delegation_reclaimer.h"

#include <algorithm>

#include "transport/base/log.h"

namespace nfsrdma::client {

using namespace nfs4;

void DelegationReclaimer::on_all_forgotten() {
  files_.open_table.forget_delegated();
  files_.delegation_table.note_forgotten();
  for (const DelegationRef& delegation : files_.delegation_table.all()) {
    delegation->forgotten();
    if (!delegation->in_use()) files_.delegations.drop(delegation);
  }
  if (DelegationUser* user = files_.delegations.user()) user->on_all_forgotten();
}

// Nothing to do: the reclaim of the opens brings delegations back.
Task<Result<void>> DelegationReclaimer::reclaim(rpc::Channel&) { co_return Result<void>{}; }

Task<void> DelegationReclaimer::reopen() {
  for (const DelegationRef& delegation : files_.delegation_table.all()) {
    if (!delegation->recovering() || delegation->lost()) continue;
    if (delegation->revoked()) {
      co_await stateids_.free(delegation->caller(), delegation->stateid());
      if (!delegation->revoked()) continue;  // the server has restarted meanwhile
    }
    log::info("a delegation is lost");
    files_.delegations.drop(delegation);
    files_.context.session.recovery_ended();
  }
}

Task<void> DelegationReclaimer::find_revoked() {
  return stateids_.test(
      files_.delegation_table.all(), [](const Delegation& held) { return held.stateid(); },
      [](const DelegationRef& delegation, const stateid4& sent, nfsstat4 code) -> Task<void> {
        const bool current = delegation->stateid() == sent && !delegation->lost();
        if (current) delegation->on_refused(code);
        co_return;
      });
}

std::size_t DelegationReclaimer::pending() const {
  const auto all = files_.delegation_table.all();
  return static_cast<std::size_t>(std::ranges::count_if(
      all, [](const DelegationRef& delegation) { return delegation->recovering(); }));
}

void DelegationReclaimer::visit_counters(CounterVisitor& visitor) const {
  visitor.visit("delegations_tested", stateids_.tested());
  visitor.visit("delegations_freed", stateids_.freed());
}

}  // namespace nfsrdma::client
