// Each request of the kernel, with replies that are not what COMPOUND4res allows; and with each
// word of each result replaced.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <random>

#include "tests/hostile/attack.h"
#include "tests/hostile/shapes.h"

namespace nfsrdma::hostile {
namespace {

using namespace nfs4;

class Replies : public ::testing::TestWithParam<KernelOperation> {
 protected:
  void TearDown() override {
    std::printf("%d attacks: %d succeeded, %d failed, %d killed\n", attacker_.attacks(),
                attacker_.succeeded, attacker_.failed, attacker_.killed);
  }
  void attack(nfs_opnum4 opnum, std::uint64_t times, const std::string& name,
              const std::function<void(SpoiledReply&)>& spoil) {
    attacker_.attack_in_turn(GetParam(), std::string(operation_name(opnum)) + ": " + name,
                             [&](HostileService& server) {
                               server.add({.opnum = opnum, .times = times, .spoil = spoil});
                             });
  }
  bool enough() const { return attacker_.failures() > Attacker::kMostFailures; }

  Attacker attacker_{{.over = kTransport}};
};

class Shapes : public Replies {};

TEST_P(Shapes, OnceAndForEver) {
  for (const std::uint32_t number : attacker_.needs(GetParam())) {
    const auto opnum = static_cast<nfs_opnum4>(number);
    for (const Shape& shape : shapes()) {
      attacker_.expect_deception(shape.deceives);
      for (const std::uint64_t times : {std::uint64_t{1}, kForEver}) {
        attack(opnum, times, std::string(shape.name) + (times == 1 ? " once" : " for ever"),
               [&](SpoiledReply& reply) { shape.spoil(reply, opnum); });
        ASSERT_FALSE(enough());
      }
    }
  }
}

class Words : public Replies {};

void put_word(Bytes& body, std::size_t place, std::uint32_t value) {
  for (std::size_t i = 0; i < 4; ++i) {
    body[place + i] = static_cast<std::byte>(value >> (24 - 8 * i));
  }
}

TEST_P(Words, Replaced) {
  constexpr std::size_t kMostWords = 60;
  constexpr std::array<std::uint32_t, 4> kValues = {0, 1, 0x7fffffff, 0xffffffff};
  attacker_.expect_deception(true);
  for (const std::uint32_t number : attacker_.needs(GetParam())) {
    const auto opnum = static_cast<nfs_opnum4>(number);
    bool more = true;
    for (std::size_t word = 0; more && word < kMostWords; ++word) {
      for (const std::uint32_t value : kValues) {
        more = false;
        attack(opnum, 1, "word " + std::to_string(word) + " is " + std::to_string(value),
               [&](SpoiledReply& reply) {
                 Bytes& body = reply.find(opnum)->body;
                 more = 4 * word + 4 <= body.size();
                 if (more) put_word(body, 4 * word, value);
               });
        ASSERT_FALSE(enough());
      }
    }
  }
}

/// Bytes anywhere in the reply; the seed is in the name of the attack.
class Mutation : public Replies {};

TEST_P(Mutation, OfAnyBytes) {
  constexpr std::uint32_t kSeeds = 200;
  attacker_.expect_deception(true);
  attacker_.needs(GetParam());
  for (std::uint32_t seed = 1; seed <= kSeeds; ++seed) {
    std::mt19937 random(seed);
    const std::uint64_t times = seed % 4 == 0 ? 20 : 1 + seed % 3;
    attack(kAny, times, "seed " + std::to_string(seed), [&](SpoiledReply& reply) {
      for (unsigned flips = 1 + random() % 4; flips > 0; --flips) {
        reply.flips.emplace_back(random(), static_cast<std::byte>(1U << random() % 8));
      }
      if (random() % 8 == 0) reply.cut = random() % 300;
    });
    ASSERT_FALSE(enough());
  }
}

std::string name_of_operation(const ::testing::TestParamInfo<KernelOperation>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(Of, Shapes, ::testing::ValuesIn(kernel_operations()), name_of_operation);
INSTANTIATE_TEST_SUITE_P(Of, Words, ::testing::ValuesIn(kernel_operations()), name_of_operation);
INSTANTIATE_TEST_SUITE_P(Of, Mutation, ::testing::ValuesIn(kernel_operations()), name_of_operation);

}  // namespace
}  // namespace nfsrdma::hostile
