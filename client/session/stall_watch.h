// Finds requests that wait although nothing is in their way: a fault of this program.
#pragma once

#include <optional>
#include <string>

#include "client/session/session.h"
#include "transport/base/metrics.h"
#include "transport/base/reactor.h"

namespace nfsrdma::client {

/// Looks once a second. A request that has waited in the same place for that long, although the
/// place is free and nothing in flight could wake it, is reported in one line with everything
/// needed to find out why. Delays of the server, the network or the recovery are not stalls
/// (SilenceWatch, OverdueCalls). Belongs to one shard.
class StallWatch {
 public:
  static constexpr Duration kInterval = std::chrono::seconds(1);

  StallWatch(Reactor& reactor, Session& session, const StateObserver& recovery, const Trunk& trunk);

  void start() { timer_.arm(kInterval); }
  void stop() { timer_.cancel(); }

  /// stalls
  void visit_counters(CounterVisitor& visitor) const;

 private:
  void look();
  bool nothing_in_the_way(const Compound& compound) const;
  void report(const LongestWait& wait) const;

  Reactor& reactor_;
  Session& session_;
  const StateObserver& recovery_;
  const Trunk& trunk_;
  Timer timer_;
  std::optional<TimePoint> candidate_;  // waiting since then, at the last look
  std::optional<TimePoint> reported_;
  Counter stalls_;
};

}  // namespace nfsrdma::client
