#include <random>

#include "tests/hostile/wire_attacks.h"

namespace nfsrdma::hostile {
namespace {

using Needs = WireAttack::Needs;

constexpr std::uint32_t kSeeds = 90;
constexpr unsigned kMostChanges = 4;
/// The headers of RPC-over-RDMA and RPC are hit more often than what follows.
constexpr std::size_t kHeaders = 160;

void flip_payload(wire::Segment& segment, std::mt19937& random) {
  if (segment.payload.empty()) return;
  const std::size_t size = segment.payload.size();
  const std::size_t range = random() % 4 == 0 ? size : std::min(size, kHeaders);
  segment.payload[random() % range] ^= static_cast<std::byte>(1U << random() % 8);
}

/// One bit of a field, or of the payload.
void change(wire::Segment& segment, std::mt19937& random) {
  const std::uint32_t bit = 1U << random() % 32;
  switch (random() % 12) {
    case 0: segment.stag ^= bit; break;
    case 1: segment.to ^= std::uint64_t{bit} << random() % 32; break;
    case 2: segment.msn = random() % 8; break;
    case 3: segment.mo ^= bit; break;
    case 4: segment.qn ^= bit; break;
    case 5: segment.opcode = random() % 16; break;
    case 6: segment.last = !segment.last; break;
    case 7: segment.invalidate ^= bit; break;
    case 8: segment.payload.resize(segment.payload.size() * (random() % 4) / 4); break;
    default: flip_payload(segment, random);
  }
}

void change_some(Strike& s, std::uint32_t seed) {
  std::mt19937 random(seed + static_cast<std::uint32_t>(s.index));
  for (unsigned left = 1 + random() % kMostChanges; left > 0; --left) change(*s.segment, random);
}

struct Moment {
  At at;
  Needs needs;
};
constexpr Moment kMoments[] = {
    {At::reply, Needs::anything}, {At::write, Needs::to_write}, {At::read, Needs::to_read}};

}  // namespace

// The seed is in the name of the attack.
std::vector<WireAttack> attacks_by_chance() {
  std::vector<WireAttack> all;
  for (std::uint32_t seed = 1; seed <= kSeeds; ++seed) {
    const Moment& moment = kMoments[seed % std::size(kMoments)];
    all.push_back({"seed " + std::to_string(seed), moment.at, moment.needs,
                   [seed](Strike& s) { change_some(s, seed); }, true});
  }
  return all;
}

}  // namespace nfsrdma::hostile
