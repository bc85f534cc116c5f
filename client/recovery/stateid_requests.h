// TEST_STATEID and FREE_STATEID (RFC 8881 sections 18.48, 18.38), for every kind of state.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "client/proto/object.h"
#include "client/proto/status.h"
#include "client/proto/types.h"
#include "client/requests/sending.h"
#include "transport/base/log.h"
#include "transport/base/metrics.h"
#include "transport/base/result.h"
#include "transport/base/task.h"

namespace nfsrdma::client {

/// Part of a Reclaimer. Its requests use the reserve that is kept for recovery, and wait for a
/// lease at most.
class StateidRequests {
 public:
  /// Stateids in one TEST_STATEID.
  static constexpr std::size_t kBatch = 32;

  /// `caller`: whose credential TEST_STATEID carries.
  StateidRequests(RequestContext& context, const Credential& caller)
      : context_(context), caller_(caller) {}

  /// Tests all states, some at a time, until one TEST_STATEID fails. `stateid_of` is called with a
  /// state when it is sent, `judge` with the state, the stateid sent and the server's status if
  /// that is not NFS4_OK; it returns a Task<void>.
  template <class State, class StateidOf, class Judge>
  Task<void> test(std::vector<State> all, StateidOf stateid_of, Judge judge) {
    for (std::size_t at = 0; at < all.size(); at += kBatch) {
      const auto batch = std::span(all).subspan(at, std::min(all.size() - at, kBatch));
      std::vector<nfs4::stateid4> sent;
      for (const State& state : batch) sent.push_back(stateid_of(*state));
      auto codes = co_await test_batch(sent);
      if (!codes) {
        log::warning("the server does not say which states it has revoked: {}",
                     codes.error().message());
        co_return;
      }
      for (std::size_t i = 0; i < codes->size(); ++i) {
        if ((*codes)[i] != nfs4::NFS4_OK) co_await judge(batch[i], sent[i], (*codes)[i]);
      }
    }
  }
  /// The server's status makes no difference: the stateid is not used again.
  Task<void> free(Credential caller, nfs4::stateid4 stateid);

  std::uint64_t tested() const { return tested_.value(); }
  std::uint64_t freed() const { return freed_.value(); }

 private:
  /// The server's status for each; never more answers than stateids.
  Task<Result<std::vector<nfs4::nfsstat4>>> test_batch(std::vector<nfs4::stateid4> stateids);
  Sending sending() const;

  RequestContext& context_;
  const Credential caller_;
  Counter tested_;
  Counter freed_;
};

}  // namespace nfsrdma::client
