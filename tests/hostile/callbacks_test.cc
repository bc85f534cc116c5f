// Callbacks that a hostile server sends in bursts while the kernel asks for something: for other
// sessions, in a wrong order, replayed, cut, unknown, at random.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <random>

#include "tests/hostile/attack.h"
#include "tests/hostile/callback_burst.h"

namespace nfsrdma::hostile {
namespace {

class Callbacks : public ::testing::TestWithParam<KernelOperation> {
 protected:
  static constexpr int kEnough = 20;          ///< some of so many attacks are no refused nonsense
  static constexpr std::uint32_t kBurst = 8;  ///< as many as the connection takes at once

  void TearDown() override {
    std::printf("%d attacks: %d succeeded, %d failed, %d killed; %d answered, %d not\n",
                attacker_.attacks(), attacker_.succeeded, attacker_.failed, attacker_.killed,
                answers_.answered, answers_.unanswered);
    EXPECT_TRUE(answers_.answered > 0 || attacker_.attacks() < kEnough) << "callbacks arrive";
  }
  void burst(const std::function<void(xdr::Encoder&, const Back&)>& write) {
    send_callbacks(attacker_.mount(), {}, kBurst, write, answers_);
  }

  Attacker attacker_{{.over = kTransport}};
  Answers answers_;
};

TEST_P(Callbacks, InBursts) {
  for (const Callback& callback : hostile_callbacks()) {
    attacker_.attack_in_turn(GetParam(), callback.name,
                             [&](HostileService&) { burst(callback.encode); });
    ASSERT_LE(attacker_.failures(), Attacker::kMostFailures);
  }
}

// The seed is in the name of the attack.
TEST_P(Callbacks, OfRandomBytes) {
  constexpr std::uint32_t kSeeds = 40;
  for (std::uint32_t seed = 1; seed <= kSeeds; ++seed) {
    std::mt19937 random(seed);
    attacker_.attack_in_turn(GetParam(), "seed " + std::to_string(seed), [&](HostileService&) {
      burst([&](xdr::Encoder& out, const Back& back) {
        const std::size_t before = out.size();
        hostile_callbacks()[random() % hostile_callbacks().size()].encode(out, back);
        for (unsigned words = random() % 4; words > 0; --words) {
          const std::size_t length = (out.size() - before) / 4;
          if (length == 0) break;
          out.patch(before + random() % length * 4, random() % 2 == 0 ? random() : random() % 64);
        }
      });
    });
    ASSERT_LE(attacker_.failures(), Attacker::kMostFailures);
  }
}

INSTANTIATE_TEST_SUITE_P(Of, Callbacks, ::testing::ValuesIn(kernel_operations()),
                         [](const auto& operation) { return operation.param.name; });

}  // namespace
}  // namespace nfsrdma::hostile
