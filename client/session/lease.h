// Keeps the lease alive while nothing else does, and finds out whether the server still answers.
#pragma once

#include "client/session/session.h"
#include "transport/base/log_limit.h"
#include "transport/base/metrics.h"
#include "transport/base/reactor.h"

namespace nfsrdma::client {

/// A lone SEQUENCE when two thirds of the lease time have passed since the last request that
/// renewed it, on its own timer, and after this machine was suspended. Without any answer in the
/// remaining third the connection is dead: it is dropped and made anew (E-8267-15).
class LeaseKeeper {
 public:
  LeaseKeeper(Reactor& reactor, Session& session, Trunk& trunk);

  /// Starts, with the lease time of Session::limits().
  void start();
  void stop();
  /// Session::limits() has another lease time.
  void on_lease_time() {
    if (running_ && !renewing_) arm();
  }

  void visit_counters(CounterVisitor& visitor) const;

 private:
  void on_timer();
  void on_silence();
  void await_answer();
  void on_look();
  void arm();
  Task<void> renew();
  Duration interval() const { return session_.limits().lease_time * 2 / 3; }

  Reactor& reactor_;
  Session& session_;
  Trunk& trunk_;
  Timer timer_;
  Timer silence_;
  Timer look_;
  TimePoint resumed_at_{0};
  std::uint64_t replies_ = 0;  // when silence_ was armed
  log::Limit lines_;           // one a lease, which a server may choose to be short
  bool running_ = false;
  bool renewing_ = false;
  Counter renewals_;
  Counter failures_;
};

}  // namespace nfsrdma::client
