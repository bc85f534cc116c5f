// Says in the log that the server puts requests off with NFS4ERR_DELAY for long.
#pragma once

#include <optional>

#include "client/compound/compound.h"
#include "transport/base/log_limit.h"

namespace nfsrdma::client {

/// For all requests of a session together: a line a minute at most. Belongs to its shard.
class DelayReport {
 public:
  /// The server has answered this request with NFS4ERR_DELAY.
  void put_off(Compound& compound, TimePoint now);
  /// The server has answered this request. A line where put_off() may have written one of it.
  void answered(Compound& compound, TimePoint now);

 private:
  std::optional<TimePoint> reported_;
  log::Limit ended_lines_;
};

}  // namespace nfsrdma::client
