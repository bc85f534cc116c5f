#include "transport/base/busy_poll.h"

#include <algorithm>
#include <bit>

namespace nfsrdma {
namespace {

/// Of 64 waits. Looks in vain cost a processor's time, those that find something save less.
constexpr int kUsually = 48;
/// What it takes to leave an idle state and be woken, on virtual processors. Without it a thread
/// that sleeps once goes on sleeping, as each wait is longer by this than it would be.
constexpr Duration kWakeUp = std::chrono::microseconds(50);

}  // namespace

bool BusyPoll::usually_short() const { return std::popcount(short_waits_) >= kUsually; }

void BusyPoll::note(Duration waited, bool looked, bool found) {
  const Duration longest = looked ? longest_ : longest_ + kWakeUp;
  short_waits_ = short_waits_ << 1 | (waited <= longest ? 1 : 0);
  if (!looked) slept_ += std::min(waited, longest_);
  if (looked) looks_.add();
  if (found) found_.add();
}

void BusyPoll::visit_counters(CounterVisitor& visitor) const {
  visitor.visit("busy_polls", looks_.value());
  visitor.visit("busy_polls_found", found_.value());
}

}  // namespace nfsrdma
