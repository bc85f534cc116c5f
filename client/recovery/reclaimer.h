// Interface for the recovery of one kind of state (opens with their locks, delegations).
#pragma once

#include <cstddef>

#include "client/proto/types.h"
#include "transport/base/result.h"
#include "transport/base/task.h"
#include "transport/rpc/channel.h"

namespace nfsrdma::client {

/// One for each kind of state, called in the order in which they were added: a kind that depends on
/// another (opens on delegations) comes after it. Belongs to one shard.
///
/// An error may cut off every task, which is then called again and goes on with the states that are
/// left. A state that takes the same step twice in vain is lost, so that recovery always ends.
class Reclaimer {
 public:
  /// The server has forgotten all states: it restarted, or the lease ran out. Only notes it.
  virtual void on_all_forgotten() = 0;

  /// Reclaims states that the server has forgotten (CLAIM_PREVIOUS and the like), on this
  /// connection and with Session::execute_on: all other requests are held back. States that the
  /// server refuses (NFS4ERR_NO_GRACE) are left to reopen(). An error ends the attempt.
  virtual Task<Result<void>> reclaim(rpc::Channel& channel) = 0;

  /// Gets anew, as for the first time, the states that could not be reclaimed and those that the
  /// server has refused, with ordinary requests: nothing else waits for it.
  virtual Task<void> reopen() = 0;

  /// Asks the server which states it has revoked (TEST_STATEID), in bounded batches, and gives
  /// those up (FREE_STATEID).
  virtual Task<void> find_revoked() = 0;

  /// States that wait for reclaim() or reopen().
  virtual std::size_t pending() const = 0;

 protected:
  ~Reclaimer() = default;
};

}  // namespace nfsrdma::client
