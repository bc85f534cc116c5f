#include "client/recovery/overdue_calls.h"

#include <algorithm>
#include <cerrno>

#include "transport/base/log.h"

namespace nfsrdma::client {
namespace {

/// Connections that calls may outlive without an answer before their session is given up.
constexpr std::uint32_t kMaxConnections = 4;
/// Half of the slots are waited for this part of a lease.
constexpr int kPatiencesPerLease = 3;
constexpr int kLooksPerPatience = 2;

}  // namespace

OverdueCalls::OverdueCalls(Reactor& reactor, Session& session, Recovery& recovery, Trunk& trunk,
                           Duration time_out)
    : reactor_(reactor),
      session_(session),
      recovery_(recovery),
      trunk_(trunk),
      time_out_(time_out),
      timer_(reactor, [this] { look(); }) {}

void OverdueCalls::start() { timer_.arm(short_patience() / kLooksPerPatience); }

Duration OverdueCalls::short_patience() const {
  return session_.limits().lease_time / kPatiencesPerLease;
}

Duration OverdueCalls::long_patience() const {
  return std::max(time_out_, session_.limits().lease_time);
}

void OverdueCalls::look() {
  if (trunk_.up() && session_.slots().is_open()) act();
  start();
}

TimePoint OverdueCalls::overtaken_since(Duration patience) const {
  return std::min(reactor_.now() - patience, session_.renewed_at());
}

bool OverdueCalls::most_slots_wait(std::uint32_t connections) const {
  const TimePoint limit = overtaken_since(short_patience());
  return 2 * session_.slots().sent_before(limit, connections) > session_.slots().usable();
}

void OverdueCalls::act() {
  if (most_slots_wait(kMaxConnections)) {
    sessions_.add();
    recovery_.replace_session("more than half of the slots get no answer");
    return;
  }
  const TimePoint limit = overtaken_since(long_patience());
  const bool overdue = session_.slots().sent_before(limit, 0) > 0;
  if (!overdue && !most_slots_wait(0)) return;
  connections_.add();
  log::warning("calls get no answer: their connection is made anew");
  trunk_.drop(Error::local(ETIMEDOUT, "recovery", "the server leaves calls unanswered"));
}

void OverdueCalls::visit_counters(CounterVisitor& visitor) const {
  visitor.visit("overdue_connections", connections_.value());
  visitor.visit("overdue_sessions", sessions_.value());
}

}  // namespace nfsrdma::client
