// Sends, RDMA Writes and RDMA Reads, as fabric.h promises them.
#include "tests/iwarp/fabric_fixture.h"

namespace nfsrdma::fabric::testing {
namespace {

class MessageTest : public FabricTest {};

TEST_P(MessageTest, SendsArriveInPostingOrderAndComplete) {
  connect();
  constexpr std::size_t count = 3;
  std::vector<Bytes> data;
  for (std::size_t i = 0; i < count; ++i) data.push_back(pattern(100 + i, i));
  for (Bytes& each : data) ASSERT_TRUE(client.send(each, {}, {}, &each));
  ASSERT_TRUE(loop.until([&] { return server().messages.size() == count; }));
  ASSERT_TRUE(loop.until([&] { return client.sends_done.size() == count; }));
  for (std::size_t i = 0; i < count; ++i) {
    EXPECT_TRUE(server().messages[i].data == data[i]) << i;
    EXPECT_EQ(client.sends_done[i], &data[i]);
  }
}

TEST_P(MessageTest, WriteIsPlacedBeforeTheSendThatFollows) {
  connect();
  Bytes memory(1 << 20);
  const Bytes data = pattern(memory.size());
  Lease lease;
  ASSERT_TRUE(client.endpoint->prepare(lease, memory, Access::remote_write));
  Lease* const leases[] = {&lease};
  ASSERT_TRUE(client.send(bytes_of("write there"), leases));
  server().on_message = [&](const End::Message&) {
    const std::span<const std::byte> pieces[] = {data};
    ASSERT_TRUE(server().endpoint->post_write(pieces, lease.segment));
    ASSERT_TRUE(server().send(bytes_of("done"), {}, lease.segment.handle));
  };
  ASSERT_TRUE(loop.until([&] { return !client.messages.empty(); }));
  EXPECT_EQ(memory, data);
  EXPECT_EQ(client.messages[0].invalidated, lease.segment.handle);
  EXPECT_TRUE(client.endpoint->settle(lease));
  EXPECT_EQ(lease.state, LeaseState::free);
}

TEST_P(MessageTest, ReadFetchesLeasedMemory) {
  connect();
  Bytes memory = pattern(1 << 20, 7);
  Bytes fetched(memory.size());
  Lease lease;
  ASSERT_TRUE(client.endpoint->prepare(lease, memory, Access::remote_read));
  Lease* const leases[] = {&lease};
  ASSERT_TRUE(client.send(bytes_of("read that"), leases));
  int context;
  server().on_message = [&](const End::Message&) {
    ASSERT_TRUE(server().endpoint->post_read(fetched, lease.segment, &context));
  };
  ASSERT_TRUE(loop.until([&] { return !acceptor.ends.empty() && !server().reads_done.empty(); }));
  EXPECT_EQ(server().reads_done[0], &context);
  EXPECT_EQ(fetched, memory);
}

INSTANTIATE_TEST_SUITE_P(Providers, MessageTest,
                         ::testing::Values(Provider{"iwarp4", make_iwarp_fabric, "127.0.0.1"},
                                           Provider{"iwarp6", make_iwarp_fabric, "::1"}),
                         provider_name);

}  // namespace
}  // namespace nfsrdma::fabric::testing
