// Calls that the server never answers although it answers others: it has dropped them, or lost
// their replies. Each would keep its slot for ever, and its caller would wait as long.
#pragma once

#include "client/recovery/recovery.h"
#include "client/session/session.h"
#include "transport/base/metrics.h"
#include "transport/base/reactor.h"

namespace nfsrdma::client {

/// Looks at the slots from time to time. A request is never sent twice on one connection (RFC 8881
/// section 2.9.2), so overdue calls cost the connection: on the next one they go out again with
/// their slots and numbers, and the server's replay cache answers, or it executes them. When more
/// than half of the slots have got no answer on several connections, a new session is created.
/// Their requests may then be executed twice, so this is done only if the server has answered later
/// calls all the time. A server that answers nothing at all is slow, or away. Belongs to one shard.
class OverdueCalls {
 public:
  /// `time_out`: how long one call may take, a lease at least. Calls on half of the slots may take
  /// a third of a lease only.
  OverdueCalls(Reactor& reactor, Session& session, Recovery& recovery, Trunk& trunk,
               Duration time_out);

  void start();
  void stop() { timer_.cancel(); }

  void visit_counters(CounterVisitor& visitor) const;

 private:
  void look();
  void act();
  Duration short_patience() const;
  Duration long_patience() const;
  /// Calls sent before this time and still unanswered, although later ones were answered, are
  /// overdue.
  TimePoint overtaken_since(Duration patience) const;
  bool most_slots_wait(std::uint32_t connections) const;

  Reactor& reactor_;
  Session& session_;
  Recovery& recovery_;
  Trunk& trunk_;
  const Duration time_out_;
  Timer timer_;
  Counter connections_;
  Counter sessions_;
};

}  // namespace nfsrdma::client
