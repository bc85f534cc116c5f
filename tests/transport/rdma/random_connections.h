// Connections with random work in flight that end at random moments.
#pragma once

#include <cstdint>
#include <deque>
#include <random>

#include "tests/transport/rdma/harness.h"

namespace nfsrdma::test {

/// A seed gives the same connections every time.
class RandomConnections {
 public:
  RandomConnections(Harness& harness, unsigned seed) : harness_(harness), random_(seed) {}

  /// How many Receives of a hundred connections cannot be posted.
  unsigned failing_receives = 2;

  /// Connects, works, and ends. Expects that every call ends once and that everything is back where
  /// it belongs; fatal failures of the test say where not.
  void run_one();

 private:
  bool chance(unsigned percent) { return random_() % 100 < percent; }
  void submit_some(std::deque<TestCall>& calls, Buffer& sink);
  void serve_some();
  void expect_known_messages();
  void end();
  void expect_nothing_left();

  Harness& harness_;
  std::mt19937 random_;
  std::uint32_t xid_ = 1;
};

}  // namespace nfsrdma::test
