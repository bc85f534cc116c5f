// How providers for devices make memory reachable, proved by their counters. The iWARP provider has
// its own tests of the same (tests/transport/fabric/iwarp/stag_table_test.cc, cost_test.cc).
#include <algorithm>

#include "tests/transport/fabric/fabric_fixture.h"

namespace nfsrdma::fabric::testing {
namespace {

class RegistrationTest : public FabricTest {
 protected:
  void SetUp() override {
    if (GetParam().exact) GTEST_SKIP() << "for providers that register memory with a device";
  }

  bool windows() { return client.counter("tier_memory_windows") == 1; }

  /// A call that the server answers by writing to its lease, `rounds` times.
  void run_reads(int rounds) {
    connect();
    memory_.resize(4096);
    const Bytes data = pattern(memory_.size());
    server().on_message = [this, data](const End::Message&) {
      const std::span<const std::byte> pieces[] = {data};
      ASSERT_TRUE(server().endpoint->post_write(pieces, lease_.segment));
      ASSERT_TRUE(server().send(reply_, {}, invalidatable(lease_)));
    };
    for (int i = 0; i < rounds; ++i) read_once();
    EXPECT_TRUE(memory_ == data);
  }

  void read_once() {
    Lease* const leases[] = {&lease_};
    const std::span<const std::byte> pieces[] = {call_};
    ASSERT_TRUE(client.endpoint->prepare(lease_, memory_, Access::remote_write));
    SendWork work{pieces, leases, {}, &lease_, false, {}};
    work.answered = true;
    const std::size_t before = client.messages.size();
    ASSERT_TRUE(client.endpoint->post_send(work));
    ASSERT_TRUE(loop.until([&] { return client.messages.size() > before; }));
    const bool over = client.endpoint->answered(&lease_);
    EXPECT_TRUE(over || !client.sends_done.empty());
    ASSERT_TRUE(client.endpoint->invalidate(lease_)) << "the answer ended the exposure";
  }

  Bytes memory_;
  const Bytes call_ = pattern(200);
  const Bytes reply_ = pattern(100);
  Lease lease_;
};

constexpr std::uint64_t kRounds = 300;

TEST_P(RegistrationTest, AReadCostsOneDoorbellAndOneCompletion) {
  run_reads(kRounds);
  EXPECT_EQ(client.counter("posts"), kRounds);
  EXPECT_EQ(client.counter("leases"), kRounds);
  EXPECT_EQ(client.counter("sends_copied"), 0u);
  // The messages, and the few that keep the send queue from filling up.
  constexpr std::uint64_t one_in = 100;
  EXPECT_LE(client.counter("completions"), kRounds + kRounds / one_in);
  EXPECT_LE(client.counter("completion_events"), kRounds + kRounds / one_in);
}

// V1-8.1.3-1
TEST_P(RegistrationTest, WindowsAreBoundForEachCallAndInvalidatedByThePeer) {
  run_reads(kRounds);
  if (!windows()) GTEST_SKIP() << "static keys";
  EXPECT_EQ(client.counter("binds"), kRounds);
  EXPECT_EQ(client.counter("invalidations_remote"), kRounds);
  EXPECT_EQ(client.counter("invalidations_local"), 0u);
  EXPECT_TRUE(client.endpoint->remote_invalidation_safe());
}

TEST_P(RegistrationTest, StaticKeysAreNeitherBoundNorInvalidated) {
  run_reads(kRounds);
  if (windows()) GTEST_SKIP() << "memory windows";
  EXPECT_EQ(client.counter("binds"), 0u);
  EXPECT_EQ(client.counter("windows"), 0u);
  EXPECT_EQ(client.counter("invalidations_remote"), 0u);
  EXPECT_EQ(client.counter("invalidations_local"), 0u);
  EXPECT_FALSE(client.endpoint->remote_invalidation_safe());
}

// I3: what the peer did not invalidate is not free before the device says so; a row of
// invalidations is one post and one completion.
TEST_P(RegistrationTest, LocalInvalidationsAreOnePostAndOneCompletion) {
  connect();
  if (!windows()) GTEST_SKIP() << "static keys";
  constexpr std::size_t many = 40;  // more windows than are made at once
  Bytes memory(many * 100);
  std::array<Lease, many> leases;
  std::vector<Lease*> pointers;
  for (std::size_t i = 0; i < many; ++i) {
    const auto part = std::span(memory).subspan(i * 100, 100);
    ASSERT_TRUE(client.endpoint->prepare(leases[i], part, Access::remote_read));
    pointers.push_back(&leases[i]);
  }
  ASSERT_TRUE(client.send(call_, pointers));
  ASSERT_TRUE(loop.until([&] { return client.sends_done.size() == 1; }));
  const auto posts = client.counter("posts");
  const auto completions = client.counter("completions");
  for (auto& lease : leases) {
    ASSERT_FALSE(client.endpoint->invalidate(lease));
    EXPECT_EQ(lease.state, LeaseState::invalidating);
  }
  ASSERT_TRUE(loop.until([&] { return client.invalidated.size() == many; }));
  for (std::size_t i = 0; i < many; ++i) {
    EXPECT_EQ(client.invalidated[i], &leases[i]);
    EXPECT_EQ(leases[i].state, LeaseState::free);
  }
  EXPECT_EQ(client.counter("invalidations_local"), many);
  constexpr std::uint64_t chains = 2;  // a chain holds 32 requests
  EXPECT_EQ(client.counter("posts") - posts, chains);
  EXPECT_EQ(client.counter("completions") - completions, 1u);
}

// V1-8.1.3-1: the key of a finished call is never the key of the next one with the same memory.
TEST_P(RegistrationTest, EveryLeaseOfAWindowHasAnotherKey) {
  run_reads(1);
  if (!windows()) GTEST_SKIP() << "static keys";
  std::vector<std::uint32_t> keys;
  for (int i = 0; i < 100; ++i) {
    read_once();
    keys.push_back(lease_.segment.handle);
  }
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ(std::adjacent_find(keys.begin(), keys.end()), keys.end());
}

INSTANTIATE_TEST_SUITE_P(Providers, RegistrationTest, ::testing::ValuesIn(chosen_providers()),
                         provider_name);

}  // namespace
}  // namespace nfsrdma::fabric::testing
