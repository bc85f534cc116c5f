// Wakes a peer that overlooks the first FPDU of a connection. Linux siw may: what arrives before it
// has moved its socket from the connection manager to the queue pair lies there until more arrives.
#pragma once

#include <functional>

#include "transport/base/reactor.h"

namespace nfsrdma::fabric::iwarp {

/// Probes after 20 ms without an answer, and again after twice as long each time, seven times at
/// most. One reactor, its thread. The owner defines the probe.
class PeerProbe {
 public:
  static constexpr Duration kFirst = std::chrono::milliseconds(20);
  static constexpr int kMost = 7;

  PeerProbe(Reactor& reactor, std::function<void()> send)
      : send_(std::move(send)), timer_(reactor, [this] { fire(); }) {}

  /// The first message to the peer was posted; later calls have no effect.
  void expect_answer() {
    if (state_ != State::idle) return;
    state_ = State::waiting;
    timer_.arm(kFirst);
  }
  /// Something came from the peer, or nothing is expected any more.
  void stop() {
    state_ = State::over;
    timer_.cancel();
  }

 private:
  enum class State { idle, waiting, over };

  void fire() {
    ++sent_;
    if (sent_ < kMost) timer_.arm(kFirst * (1 << sent_));
    send_();
  }

  std::function<void()> send_;
  Timer timer_;
  State state_ = State::idle;
  int sent_ = 0;
};

}  // namespace nfsrdma::fabric::iwarp
