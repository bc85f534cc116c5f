// The recovery of delegations (RFC 8881 sections 10.2.1, 8.4.2.1, 18.16.4, 18.38, 18.48).
#pragma once

#include "client/files/files.h"
#include "client/recovery/reclaimer.h"
#include "client/recovery/stateid_requests.h"
#include "client/state/delegation.h"

namespace nfsrdma::client {

/// Runs before the recovery of opens, which depend on delegations.
///
///   server has restarted     one whose file is open is reclaimed with that open (CLAIM_PREVIOUS
///                            with delegate_type, by OpenReclaimer); all others are dropped
///   TEST_STATEID, or a use   FREE_STATEID where the server waits for it, dropped; opens that it
///   of it, finds it revoked  alone covered are opened anew by OpenReclaimer, one with locks that
///                            only this client knew of is lost
class DelegationReclaimer final : public Reclaimer {
 public:
  DelegationReclaimer(Files& files, const Credential& caller)
      : files_(files), stateids_(files.context, caller) {}

  void on_all_forgotten() override;
  Task<Result<void>> reclaim(rpc::Channel& channel) override;
  Task<void> reopen() override;
  Task<void> find_revoked() override;
  std::size_t pending() const override;

  void visit_counters(CounterVisitor& visitor) const;

 private:
  Files& files_;
  StateidRequests stateids_;
};

}  // namespace nfsrdma::client
