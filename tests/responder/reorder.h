// A server that executes requests, and answers them, in any order.
#pragma once

#include <chrono>
#include <cstdint>

#include "transport/base/reactor.h"

namespace nfsrdma::responder {

/// Says for how long each request is held back before it is executed, and each answer before it is
/// sent, so that later ones overtake it (RFC 8881 section 2.10.6.1: slots have no order among each
/// other). The same seed says the same. Belongs to one thread.
class Reorder {
 public:
  /// No hold is longer.
  static constexpr Duration kLongest = std::chrono::milliseconds(3);

  explicit Reorder(std::uint64_t seed) : state_(seed) {}

  /// Of the next request or answer; zero for half of them.
  Duration hold() {
    const std::uint64_t number = next();
    if (number & 1) return Duration::zero();
    const auto longest = static_cast<std::uint64_t>(kLongest.count());
    return Duration(static_cast<Duration::rep>((number >> 1) % longest));
  }

 private:
  /// SplitMix64: the same on every machine.
  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    return mixed ^ (mixed >> 31);
  }

  std::uint64_t state_;
};

}  // namespace nfsrdma::responder
