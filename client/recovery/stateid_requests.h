// TEST_STATEID and FREE_STATEID (RFC 8881 sections 18.48, 18.38), for every kind of state.
#pragma once

#include <algorithm>
#include <cstddef>
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

/// Part of a Reclaimer. Requests go out from what is kept back for recovery, and wait for a lease
/// at most.
class StateidRequests {
 public:
  /// Stateids in one TEST_STATEID.
  static constexpr std::size_t kBatch = 32;

  /// `caller`: whose credential TEST_STATEID carries.
  StateidRequests(RequestContext& context, const Credential& caller)
      : context_(context), caller_(caller) {}

  /// What the server says of each; no more answers than questions.
  Task<Result<std::vector<nfs4::nfsstat4>>> test(std::vector<nfs4::stateid4> stateids);
  /// What the server answers makes no difference: the stateid is not used again.
  Task<void> free(Credential caller, nfs4::stateid4 stateid);

  /// Calls `test` of a reclaimer with all of its states, some at a time, until one call fails.
  template <class Owner, class State>
  static Task<void> in_batches(Owner& owner,
                               Task<Result<void>> (Owner::*test)(std::vector<State> batch),
                               std::vector<State> all) {
    for (std::size_t at = 0; at < all.size(); at += kBatch) {
      const auto begin = all.begin() + static_cast<std::ptrdiff_t>(at);
      const auto count = std::min(all.size() - at, kBatch);
      std::vector<State> batch(begin, begin + static_cast<std::ptrdiff_t>(count));
      auto tested = co_await (owner.*test)(std::move(batch));
      if (tested) continue;
      log::warning("{}", tested.error().message());
      co_return;
    }
  }

  std::uint64_t tested() const { return tested_.value(); }
  std::uint64_t freed() const { return freed_.value(); }

 private:
  Sending sending() const;

  RequestContext& context_;
  const Credential caller_;
  Counter tested_;
  Counter freed_;
};

}  // namespace nfsrdma::client
