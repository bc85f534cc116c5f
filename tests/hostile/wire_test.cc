// Requests of the kernel whose data travels by RDMA, through a middleman that breaks the rules of
// iWARP and RPC-over-RDMA on the way back: once, and for ever.
#include <gtest/gtest.h>

#include <cstdio>

#include "tests/hostile/attack.h"
#include "tests/hostile/chunk_requests.h"
#include "tests/hostile/wire_attacks.h"

namespace nfsrdma::hostile {
namespace {

class Peer : public ::testing::TestWithParam<KernelOperation> {
 protected:
  Peer()
      : attacker_({.over = Over::iwarp, .between = [this](Reactor& reactor, const auto& server) {
                     auto made = std::make_unique<IwarpMiddleman>(reactor, server);
                     man_ = made.get();
                     return made;
                   }}) {}
  void TearDown() override {
    std::printf("%d attacks: %d succeeded, %d failed, %d killed\n", attacker_.attacks() - in_vain_,
                attacker_.succeeded - in_vain_, attacker_.failed, attacker_.killed);
  }
  void run(const std::vector<WireAttack>& attacks) {
    attacker_.attack(GetParam(), "nothing wrong", [&](HostileService&) {
      man_->arm({.name = "nothing", .strike = [](Strike&) {}}, true);
    });
    const std::set<WireAttack::Needs> lent = man_->seen();
    for (const WireAttack& attack : attacks) {
      if (!lent.contains(attack.needs)) continue;
      if (strike(attack, false)) strike(attack, true);
      ASSERT_LE(attacker_.failures(), Attacker::kMostFailures);
    }
  }

  IwarpMiddleman* man_ = nullptr;
  Attacker attacker_;

 private:
  /// False: its moment did not come.
  bool strike(const WireAttack& attack, bool for_ever) {
    attacker_.expect_deception(attack.deceives);
    const bool done =
        attacker_.attack_in_turn(GetParam(), attack.name + (for_ever ? " for ever" : " once"),
                                 [&](HostileService&) { man_->arm(attack, for_ever); });
    if (!done) return true;
    if (man_->struck() > 0) return true;
    ++in_vain_;
    return false;
  }

  int in_vain_ = 0;
};

TEST_P(Peer, Writes) { run(attacks_by_writes()); }
TEST_P(Peer, Reads) { run(attacks_by_reads()); }
TEST_P(Peer, Segments) { run(attacks_by_segments()); }
TEST_P(Peer, Ends) { run(attacks_by_ends()); }
TEST_P(Peer, Replies) { run(attacks_by_replies()); }
TEST_P(Peer, Chance) { run(attacks_by_chance()); }

INSTANTIATE_TEST_SUITE_P(Of, Peer, ::testing::ValuesIn(chunk_requests()),
                         [](const auto& operation) { return operation.param.name; });

}  // namespace
}  // namespace nfsrdma::hostile
