#include "transport/base/busy_poll.h"

#include <algorithm>
#include <bit>

namespace nfsrdma {
namespace {

/// Of 64 waits. Looks in vain cost a processor's time, those that find something save less.
constexpr int kUsually = 48;

}  // namespace

bool BusyPoll::usually_short() const { return std::popcount(short_waits_) >= kUsually; }

void BusyPoll::note(Duration waited, bool looked, bool found) {
  short_waits_ = short_waits_ << 1 | (waited <= longest_ ? 1 : 0);
  if (!looked) slept_ += std::min(waited, longest_);
  if (looked) looks_.add();
  if (found) found_.add();
}

void BusyPoll::visit_counters(CounterVisitor& visitor) const {
  visitor.visit("busy_polls", looks_.value());
  visitor.visit("busy_polls_found", found_.value());
}

}  // namespace nfsrdma
