// A trace of every NFS request of a mount: those that wait, the last ones that ended, and the times
// of each operation.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "client/compound/compound.h"
#include "client/session/operation_times.h"
#include "client/session/shortest_round_trip.h"
#include "transport/base/intrusive_list.h"
#include "transport/base/metrics.h"
#include "transport/base/recent.h"

namespace nfsrdma::client {

/// Always on. Belongs to one shard, but for methods that are said to be for any thread. The memory
/// for an operation's times is taken when it is first used; nothing else allocates.
class Trace {
 public:
  /// Spans that are kept.
  static constexpr std::size_t kSpans = 1024;

  Trace() : ended_(kSpans) {}
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;
  ~Trace();

  /// A request is given to the session, which fills in its span from now on.
  void begin(Compound& compound, TimePoint now);
  /// Its operation goes on. The span's status is that of `outcome`, or of the answer.
  void end(Compound& compound, const Result<void>& outcome, TimePoint now);

  /// Calls visit(const Span&) for at most so many of the last that ended, in the order of their
  /// ends.
  template <class Visit>
  void visit_ended(std::size_t most, Visit&& visit) const {
    ended_.visit(most, visit);
  }
  /// How many have ended.
  std::uint64_t ended() const { return ended_.added(); }
  /// Calls visit(Compound&) for each that has not ended, in the order of their beginnings.
  template <class Visit>
  void visit_in_flight(Visit&& visit) {
    in_flight_.for_each(visit);
  }
  /// Calls visit(opnum, const OperationTimes&) for each operation that there were requests of. Any
  /// thread.
  template <class Visit>
  void visit_operations(Visit&& visit) const {
    for (std::size_t opnum = 0; opnum < kOperations; ++opnum) {
      const OperationTimes* const times = operations_[opnum].load(std::memory_order_acquire);
      if (times) visit(static_cast<nfs4::nfs_opnum4>(opnum), *times);
    }
  }
  /// Of the last requests, from the wire to the reply. Zero: there was none.
  Duration shortest_round_trip() const { return shortest_.value(); }
  /// nfs_*. Any thread.
  void visit_counters(CounterVisitor& visitor) const;

 private:
  static constexpr std::size_t kOperations = nfs4::OP_RECLAIM_COMPLETE + 1;

  OperationTimes& times_of(nfs4::nfs_opnum4 operation);

  IntrusiveList<Compound> in_flight_;
  Recent<Span> ended_;
  ShortestRoundTrip shortest_;
  std::array<std::atomic<OperationTimes*>, kOperations> operations_{};
};

/// "READ xid 0x1f slot 3 for request 12 began 2.100 s ago, waits for the server's answer"
std::string waiting_text(Compound& compound, TimePoint now);

}  // namespace nfsrdma::client
