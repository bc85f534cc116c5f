// Looking for the next event for a moment before the thread sleeps. To sleep and be woken costs
// more than a short wait: the processor has to leave its idle state, and has other data in its
// caches.
#pragma once

#include <cstdint>

#include "transport/base/metrics.h"
#include "transport/base/processor_times.h"
#include "transport/base/reactor.h"

namespace nfsrdma {

/// Decides for each wait of a reactor whether to look first: if events usually come so soon, and if
/// nobody else wants the processor. Belongs to the thread of the reactor; its counters may be read
/// from others.
class BusyPoll {
 public:
  /// `longest`: how long one wait looks, at most; zero: it never does.
  explicit BusyPoll(Duration longest, SpareProcessor::Source source = read_processor_times)
      : longest_(longest), spare_(std::move(source)) {}

  bool on() const { return longest_ > Duration::zero(); }
  Duration longest() const { return longest_; }
  /// Whether the wait that begins now should look.
  bool pays(TimePoint now) { return usually_short() && spare_.has(now, slept_); }
  /// A wait has ended. `looked`: it looked first; `found`: its event came meanwhile.
  void note(Duration waited, bool looked, bool found);
  void visit_counters(CounterVisitor& visitor) const;

 private:
  bool usually_short() const;

  Duration longest_;
  SpareProcessor spare_;
  Duration slept_{};               ///< in waits that could have looked, as long as they could have
  std::uint64_t short_waits_ = 0;  ///< of the last 64 waits a bit each, the newest lowest
  Counter looks_;
  Counter found_;
};

/// An epoll reactor that looks before it sleeps as `busy_poll` decides, which outlives it.
std::unique_ptr<Reactor> make_epoll_reactor(BusyPoll& busy_poll);

}  // namespace nfsrdma
