// Each request of the kernel with each lie that a result of its can tell, once and for ever; with
// and without delegations. And status flags, one and two at a time.
#include <gtest/gtest.h>

#include <cstdio>
#include <tuple>

#include "tests/hostile/attack.h"
#include "tests/hostile/lies.h"

namespace nfsrdma::hostile {
namespace {

using namespace nfs4;
using responder::DelegationKind;

void report(const Attacker& attacker) {
  std::printf("%d attacks: %d succeeded, %d failed, %d killed\n", attacker.attacks(),
              attacker.succeeded, attacker.failed, attacker.killed);
}

class Lies : public ::testing::TestWithParam<std::tuple<KernelOperation, DelegationKind>> {};

TEST_P(Lies, OnceAndForEver) {
  const auto& [operation, delegations] = GetParam();
  Attacker attacker({.over = kTransport, .delegations = delegations});
  const std::set<std::uint32_t> needed = attacker.needs(operation);
  for (const Lie& lie : all_lies()) {
    if (!needed.contains(lie.opnum)) continue;
    attacker.expect_deception(lie.deceives);
    for (const std::uint64_t times : {std::uint64_t{1}, kForEver}) {
      attacker.attack_in_turn(
          operation, std::string(lie.name) + (times == 1 ? " once" : " for ever"),
          [&](HostileService& server) {
            server.add({.opnum = lie.opnum, .times = times, .spoil = lie.spoil});
          });
      ASSERT_LE(attacker.failures(), Attacker::kMostFailures);
    }
  }
  report(attacker);
}

class StatusFlags : public ::testing::TestWithParam<KernelOperation> {};

TEST_P(StatusFlags, OneAndTwoAtATime) {
  constexpr std::uint32_t kBits = 14;  // one more than are defined
  Attacker attacker({.over = kTransport, .delegations = DelegationKind::read});
  for (std::uint32_t first = 0; first < kBits; ++first) {
    for (std::uint32_t second = first; second < kBits; ++second) {
      const std::uint32_t flags = 1U << first | 1U << second;
      attacker.attack_in_turn(
          GetParam(), "flags " + std::to_string(flags), [&](HostileService& server) {
            server.add({.opnum = OP_SEQUENCE, .spoil = [flags](SpoiledReply& reply) {
                          reply.edit<SEQUENCE4res>([flags](SEQUENCE4res& result) {
                            result.sr_resok4.sr_status_flags = flags;
                          });
                        }});
          });
      ASSERT_LE(attacker.failures(), Attacker::kMostFailures);
    }
  }
  report(attacker);
}

std::string cell_name(
    const ::testing::TestParamInfo<std::tuple<KernelOperation, DelegationKind>>& cell) {
  const bool delegated = std::get<1>(cell.param) != DelegationKind::none;
  return std::string(std::get<0>(cell.param).name) + (delegated ? "Delegated" : "");
}

INSTANTIATE_TEST_SUITE_P(Of, Lies,
                         ::testing::Combine(::testing::ValuesIn(kernel_operations()),
                                            ::testing::Values(DelegationKind::none,
                                                              DelegationKind::write)),
                         cell_name);
INSTANTIATE_TEST_SUITE_P(Of, StatusFlags, ::testing::ValuesIn(kernel_operations()),
                         [](const auto& operation) { return operation.param.name; });

}  // namespace
}  // namespace nfsrdma::hostile
