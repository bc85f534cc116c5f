// Statistics of one NFS operation: counts, bytes, outcomes and latency histograms.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

#include "client/compound/span.h"
#include "transport/base/histogram.h"
#include "transport/base/metrics.h"

namespace nfsrdma::client {

/// Of the requests that are about this operation. The shard adds; any thread reads.
class OperationTimes {
 public:
  void add(const Span& span);

  Counter requests;
  Counter sends;   ///< more than requests: sent again
  Counter delays;  ///< NFS4ERR_DELAY and the like, after which a request was repeated
  Counter bytes_sent;
  Counter bytes_received;
  Counter errors;        ///< requests that failed
  Histogram queue;       ///< from the session to the wire: session slot, connection, credit
  Histogram round_trip;  ///< from the wire to the reply, of the last time it was sent
  Histogram execute;     ///< all of it, repetitions included

  /// Calls visit(layer, code, count) for each kind of failure; those beyond kOutcomes are in
  /// `errors` only.
  template <class Visit>
  void visit_failures(Visit&& visit) const {
    for (const Outcome& outcome : outcomes_) {
      const std::uint64_t count = outcome.count.value();
      if (count > 0) visit(outcome.layer.load(), outcome.code.load(), count);
    }
  }
  /// "nfs_READ_requests" and so on.
  void visit_counters(std::string_view operation, CounterVisitor& visitor) const;

 private:
  static constexpr std::size_t kOutcomes = 12;
  struct Outcome {
    std::atomic<Layer> layer{};
    std::atomic<int> code{};
    Counter count;
  };
  void count_failure(Layer layer, int code);

  std::array<Outcome, kOutcomes> outcomes_;
};

}  // namespace nfsrdma::client
