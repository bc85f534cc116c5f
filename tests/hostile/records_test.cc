// Requests of the kernel over TCP, through a middleman that breaks records and replies on the way
// back: the first reply and the second, once, and all of them for ever.
#include <gtest/gtest.h>

#include <cstdio>

#include "tests/hostile/attack.h"
#include "tests/hostile/chunk_requests.h"
#include "tests/hostile/record_attacks.h"

namespace nfsrdma::hostile {
namespace {

class Records : public ::testing::TestWithParam<KernelOperation> {
 protected:
  Records()
      : attacker_({.over = Over::tcp, .between = [this](Reactor& reactor, const auto& server) {
                     auto made = std::make_unique<RecordMiddleman>(reactor, server);
                     man_ = made.get();
                     return made;
                   }}) {}
  void strike(const RecordAttack& attack, std::size_t skip, bool for_ever) {
    const std::string name = attack.name + ", reply " + std::to_string(skip + 1);
    attacker_.expect_deception(attack.deceives);
    const bool done =
        attacker_.attack_in_turn(GetParam(), name + (for_ever ? " and all behind it" : ""),
                                 [&](HostileService&) { man_->arm(attack, skip, for_ever); });
    if (done && man_->struck() == 0) ++in_vain_;
  }

  RecordMiddleman* man_ = nullptr;
  Attacker attacker_;
  int in_vain_ = 0;
};

TEST_P(Records, OnceAndForEver) {
  attacker_.attack(GetParam(), "nothing wrong", [&](HostileService&) {
    man_->arm({"nothing", [](RecordStrike&) {}}, 0, true);
  });
  const std::size_t replies = std::min<std::size_t>(man_->struck(), 2);
  for (const RecordAttack& attack : record_attacks()) {
    for (std::size_t skip = 0; skip < replies; ++skip) strike(attack, skip, false);
    strike(attack, 0, true);
    ASSERT_LE(attacker_.failures(), Attacker::kMostFailures);
  }
  std::printf("%d attacks: %d succeeded, %d failed, %d killed\n", attacker_.attacks() - in_vain_,
              attacker_.succeeded - in_vain_, attacker_.failed, attacker_.killed);
}

INSTANTIATE_TEST_SUITE_P(Of, Records, ::testing::ValuesIn(chunk_requests()),
                         [](const auto& operation) { return operation.param.name; });

}  // namespace
}  // namespace nfsrdma::hostile
