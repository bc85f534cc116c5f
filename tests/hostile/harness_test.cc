// The harness sees what it is there to see.
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "tests/hostile/attack.h"
#include "tests/hostile/iwarp_middleman.h"

namespace nfsrdma::hostile {
namespace {

using namespace nfs4;

const KernelOperation& operation(std::string_view name) {
  const auto found = std::ranges::find(kernel_operations(), name, &KernelOperation::name);
  if (found == kernel_operations().end()) std::abort();
  return *found;
}

class Harness : public ::testing::TestWithParam<Over> {
 protected:
  static Rule spoiling(nfs_opnum4 opnum, std::function<void(SpoiledReply&)> spoil) {
    return {.opnum = opnum, .spoil = std::move(spoil)};
  }

  Attacker attacker_{{.over = GetParam()}};
};

// A server that gives other data cannot be found out by the client, but by the harness.
TEST_P(Harness, OtherData) {
  EXPECT_NONFATAL_FAILURE(attacker_.attack(operation("Read"), "other data",
                                           [](HostileService& server) {
                                             server.add(spoiling(OP_READ, [](SpoiledReply& reply) {
                                               Bytes& body = reply.find(OP_READ)->body;
                                               body[body.size() / 2] ^= std::byte{1};
                                             }));
                                           }),
                          "other data than the file has (2)");
}

TEST_P(Harness, ReplyWithoutTheEffect) {
  EXPECT_NONFATAL_FAILURE(
      attacker_.attack(operation("Unlink"), "not done",
                       [&](HostileService& server) {
                         server.add({.opnum = OP_REMOVE, .status = NFS4ERR_STALE});
                         server.add(spoiling(OP_REMOVE, [](SpoiledReply& reply) {
                           reply.edit<REMOVE4res>(
                               [](REMOVE4res& result) { result.status = NFS4_OK; });
                           reply.status = NFS4_OK;
                         }));
                       }),
      "the file is still there (2)");
}

TEST_P(Harness, WhatIsLeftBehind) {
  attacker_.attack(operation("Open"), "nothing wrong", [](HostileService&) {});
  EXPECT_EQ(attacker_.failures(), 0);
  const std::string before = attacker_.mount().footprint();
  Stage stage(attacker_.mount());
  stage.make_file();
  stage.open(stage.lookup(stage.file));
  EXPECT_NE(attacker_.mount().footprint(), before);
  EXPECT_TRUE(stage.clean_up());
  EXPECT_EQ(attacker_.mount().footprint(), before);
}

// A caller can be killed, and only then is there an answer.
TEST_P(Harness, ServerThatNeverAnswers) {
  attacker_.attack(operation("Mkdir"), "delayed for ever", [](HostileService& server) {
    server.add({.opnum = OP_CREATE, .status = NFS4ERR_DELAY});
  });
  EXPECT_EQ(attacker_.killed, 1);
  EXPECT_GT(attacker_.mount().server().struck(), 3U);
  EXPECT_EQ(attacker_.failures(), 0);
}

/// A middleman whose attacks break no rule, but say that they do.
class WireHarness : public ::testing::Test {
 protected:
  static void strikes(const WireAttack& attack, const char* name) {
    IwarpMiddleman* man = nullptr;
    Attacker attacker({.over = Over::iwarp, .between = [&](Reactor& reactor, const auto& server) {
                         auto made = std::make_unique<IwarpMiddleman>(reactor, server);
                         man = made.get();
                         return made;
                       }});
    attacker.expect_deception(true);
    attacker.attack(operation(name), attack.name,
                    [&](HostileService&) { man->arm(attack, false); });
    EXPECT_EQ(man->struck(), 1U);
  }
};

TEST_F(WireHarness, BytesThatWerePlaced) {
  const auto strike = [](Strike& s) {
    s.segment->payload = s.forbidden(s.segment->payload.size());
  };
  EXPECT_NONFATAL_FAILURE(
      strikes({"placed", At::write, WireAttack::Needs::to_write, strike}, "Read"),
      "bytes were placed outside of what was lent (7)");
}

TEST_F(WireHarness, BytesThatWereRead) {
  const auto strike = [](Strike& s) {
    const fabric::Segment& lent = s.offer.to_read.front();
    s.read({.size = lent.length, .source_stag = lent.handle, .source_to = lent.offset}, false);
  };
  EXPECT_NONFATAL_FAILURE(
      strikes({"read", At::read, WireAttack::Needs::to_read, strike}, "WriteDirect"),
      "bytes were given that were not lent (7)");
}

INSTANTIATE_TEST_SUITE_P(Over, Harness, ::testing::Values(Over::tcp, Over::iwarp),
                         [](const auto& over) { return name_of(over.param); });

}  // namespace
}  // namespace nfsrdma::hostile
