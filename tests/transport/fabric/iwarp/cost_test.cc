// What an operation costs, counted and not timed.
#include "tests/transport/fabric/fabric_fixture.h"

namespace nfsrdma::fabric::testing {
namespace {

/// A client that reads `size` bytes at a time from a server that Writes and Sends.
class CostTest : public FabricTest {
 protected:
  void run(std::size_t size, int rounds) {
    connect();
    memory_.resize(size);
    data_ = pattern(size);
    server().on_message = [this](const End::Message&) {
      const std::span<const std::byte> pieces[] = {data_};
      ASSERT_TRUE(server().endpoint->post_write(pieces, lease_.segment));
      ASSERT_TRUE(server().send(reply_, {}, lease_.segment.handle));
    };
    for (int i = 0; i < rounds; ++i) {
      Lease* const leases[] = {&lease_};
      ASSERT_TRUE(client.endpoint->prepare(lease_, memory_, Access::remote_write));
      ASSERT_TRUE(client.send(call_, leases));
      const auto wanted = static_cast<std::size_t>(i + 1);
      ASSERT_TRUE(loop.until([&] { return client.messages.size() == wanted; }));
      ASSERT_TRUE(client.endpoint->invalidate(lease_));
    }
    ASSERT_TRUE(memory_ == data_);
  }

  Bytes memory_;
  Bytes data_;
  const Bytes call_ = pattern(200);
  const Bytes reply_ = pattern(100);
  Lease lease_;
};

constexpr int kRounds = 100;

TEST_P(CostTest, ASmallReadIsOneWriteCallOnEachSide) {
  run(4096, kRounds);
  // One for each operation, and those of the startup.
  EXPECT_LE(client.counter("write_calls"), kRounds + 1u);
  EXPECT_LE(server().counter("write_calls"), kRounds + 1u);
}

TEST_P(CostTest, ASmallReadIsOneReadCall) {
  run(4096, kRounds);
  // RDMA Write and Send come together. Startup: header and rest.
  EXPECT_LE(client.counter("read_calls"), kRounds + 3u);
}

TEST_P(CostTest, InvalidationByThePeerLeavesNothingToInvalidate) {
  run(100, kRounds);
  EXPECT_EQ(client.counter("invalidations_remote"), static_cast<unsigned>(kRounds));
  EXPECT_EQ(client.counter("invalidations_local"), 0u);
  EXPECT_EQ(client.counter("leases"), static_cast<unsigned>(kRounds));
  EXPECT_EQ(client.counter("sends"), static_cast<unsigned>(kRounds));
}

TEST_P(CostTest, AMebibyteTravelsInLargeFpdusOnLoopback) {
  run(1 << 20, 1);
  // 1 MiB in ULPDUs of almost 64 KiB, and the reply.
  EXPECT_EQ(server().counter("fpdus_sent"), 17u + 1u);
}

TEST_P(CostTest, AMebibyteInEthernetFramesTakesFewReadCalls) {
  acceptor.options.max_segment = 1448;
  run(1 << 20, 1);
  EXPECT_GE(server().counter("fpdus_sent"), 700u);
  // The stage takes 64 KiB once it was filled; the sender's batches of 128 FPDUs cut that anew.
  EXPECT_LE(client.counter("read_calls"), 60u);
}

INSTANTIATE_TEST_SUITE_P(Providers, CostTest,
                         ::testing::Values(Provider{"iwarp4", make_listening_iwarp_fabric,
                                                    "127.0.0.1"}),
                         provider_name);

}  // namespace
}  // namespace nfsrdma::fabric::testing
