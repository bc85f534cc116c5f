// Sends, RDMA Writes and RDMA Reads, as fabric.h promises them.
#include "tests/transport/fabric/fabric_fixture.h"

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
  expose(lease, memory, Access::remote_write, bytes_of("write there"));
  server().on_message = [&](const End::Message&) {
    const std::span<const std::byte> pieces[] = {data};
    ASSERT_TRUE(server().endpoint->post_write(pieces, lease.segment));
    ASSERT_TRUE(server().send(bytes_of("done"), {}, invalidatable(lease)));
  };
  ASSERT_TRUE(loop.until([&] { return !client.messages.empty(); }));
  EXPECT_EQ(memory, data);
  EXPECT_EQ(client.messages[0].invalidated, invalidatable(lease));
  EXPECT_TRUE(client.endpoint->invalidate(lease));
  EXPECT_EQ(lease.state, LeaseState::free);
}

TEST_P(MessageTest, ReadFetchesLeasedMemory) {
  connect();
  Bytes memory = pattern(1 << 20, 7);
  Bytes fetched(memory.size());
  Lease lease;
  expose(lease, memory, Access::remote_read, bytes_of("read that"));
  int context;
  server().on_message = [&](const End::Message&) {
    ASSERT_TRUE(server().endpoint->post_read(fetched, lease.segment, &context));
  };
  ASSERT_TRUE(loop.until([&] { return !acceptor.ends.empty() && !server().reads_done.empty(); }));
  EXPECT_EQ(server().reads_done[0], &context);
  EXPECT_EQ(fetched, memory);
  invalidate(lease);
}

TEST_P(MessageTest, SmallestAndLargestMessages) {
  acceptor.receive_size = 1 << 20;
  connect();
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, acceptor.receive_size}) {
    const Bytes data = pattern(size);
    ASSERT_TRUE(client.send(data));
    ASSERT_TRUE(loop.until([&] { return !server().messages.empty(); }));
    EXPECT_TRUE(server().messages[0].data == data) << size;
    server().messages.clear();
  }
}

TEST_P(MessageTest, AMessageGatheredFromManyPieces) {
  connect();
  const Bytes data = pattern(3000);
  std::vector<std::span<const std::byte>> pieces;
  for (std::size_t at = 0; at < data.size(); at += 3) {
    pieces.push_back(std::span(data).subspan(at, 3));
    pieces.push_back({});
  }
  ASSERT_TRUE(client.endpoint->post_send({.pieces = pieces, .leases = {}, .invalidate = {}}));
  pieces.assign(pieces.size(), {});  // the array was copied
  ASSERT_TRUE(loop.until([&] { return !server().messages.empty(); }));
  EXPECT_TRUE(server().messages[0].data == data);
}

TEST_P(MessageTest, AThousandMessagesThereAndBack) {
  connect();
  constexpr std::size_t rounds = 1000;
  const Bytes data = pattern(128);
  server().on_message = [&](const End::Message&) { ASSERT_TRUE(server().send(data)); };
  client.on_message = [&](const End::Message&) {
    if (client.messages.size() == rounds) return;
    ASSERT_TRUE(client.send(data));
  };
  ASSERT_TRUE(client.send(data));
  ASSERT_TRUE(loop.until([&] { return client.messages.size() == rounds; }));
  ASSERT_TRUE(loop.until([&] { return client.sends_done.size() == rounds; }));
}

// V1-2.3.2-4
TEST_P(MessageTest, AllWritesArePlacedBeforeTheSendPostedAfterThem) {
  connect();
  constexpr std::size_t writes = 50;
  constexpr std::size_t each = 5001;
  Bytes memory(writes * each);
  const Bytes data = pattern(memory.size());
  Lease lease;
  const Bytes done = bytes_of("done");
  expose(lease, memory, Access::remote_write, bytes_of("write"));
  server().on_message = [&](const End::Message&) {
    for (std::size_t i = 0; i < writes; ++i) {
      const std::span<const std::byte> pieces[] = {std::span(data).subspan(i * each, each)};
      Segment to = lease.segment;
      to.offset += i * each;
      ASSERT_TRUE(server().endpoint->post_write(pieces, to));
    }
    ASSERT_TRUE(server().send(done));
  };
  bool equal_on_receive = false;
  client.on_message = [&](const End::Message&) { equal_on_receive = memory == data; };
  ASSERT_TRUE(loop.until([&] { return !client.messages.empty(); }));
  EXPECT_TRUE(equal_on_receive);
  invalidate(lease);
}

TEST_P(MessageTest, MoreReadsThanMayBeOutstandingCompleteInPostingOrder) {
  acceptor.options.ord = 3;
  connect();
  constexpr std::size_t reads = 40;
  constexpr std::size_t each = 1000;
  Bytes memory = pattern(reads * each);
  Bytes fetched(memory.size());
  Lease lease;
  expose(lease, memory, Access::remote_read, bytes_of("read"));
  ASSERT_TRUE(loop.until([&] { return !server().messages.empty(); }));
  std::array<int, reads> contexts;
  for (std::size_t i = 0; i < reads; ++i) {
    const Segment from{lease.segment.handle, each, lease.segment.offset + i * each};
    ASSERT_TRUE(server().endpoint->post_read(std::span(fetched).subspan(i * each, each), from,
                                             &contexts[i]));
  }
  ASSERT_TRUE(loop.until([&] { return server().reads_done.size() == reads; }));
  for (std::size_t i = 0; i < reads; ++i) EXPECT_EQ(server().reads_done[i], &contexts[i]);
  EXPECT_TRUE(fetched == memory);
  invalidate(lease);
}

// V1-2.3.2-2
TEST_P(MessageTest, AMessageThatDoesNotFitBringsTheConnectionDown) {
  acceptor.receive_size = 100;
  connect();
  const Bytes data = pattern(101);
  ASSERT_TRUE(client.send(data));
  ASSERT_TRUE(loop.until([&] { return client.down && server().down; }));
  EXPECT_TRUE(has_failed(server(), Fault::receive_too_small)) << server().down->message();
  EXPECT_TRUE(has_failed(client, Fault::remote_terminate)) << client.down->message();
  EXPECT_TRUE(server().messages.empty());
}

// V1-8.1.1-1
TEST_P(MessageTest, AHandleOfAnotherConnectionIsRefused) {
  connect();
  if (!keys_are_for_one_call()) GTEST_SKIP() << "static keys are good on every connection";
  End other;
  connect(other);
  Bytes memory(100);
  Lease lease;
  const Bytes data = pattern(100);
  expose(lease, memory, Access::remote_write, data);
  ASSERT_TRUE(other.send(data));  // so that its server may send
  const std::span<const std::byte> pieces[] = {data};
  ASSERT_TRUE(server().endpoint->post_write(pieces, lease.segment));
  ASSERT_TRUE(loop.until([&] { return other.down.has_value(); }));
  EXPECT_TRUE(has_failed(other, Fault::remote_access)) << other.down->message();
  EXPECT_EQ(memory, Bytes(100));
  EXPECT_FALSE(client.down);
  invalidate(lease);
}

// V1-8.1.3-1, V1-4.4.1-1
TEST_P(MessageTest, ASettledHandleIsRefused) {
  connect();
  if (!keys_are_for_one_call()) GTEST_SKIP() << "static keys are good for ever";
  Bytes memory(100);
  Lease lease;
  const Bytes data = pattern(100);
  expose(lease, memory, Access::remote_write, data);
  ASSERT_TRUE(loop.until([&] { return !server().messages.empty(); }));
  const Segment late = lease.segment;
  invalidate(lease);
  const std::span<const std::byte> pieces[] = {data};
  ASSERT_TRUE(server().endpoint->post_write(pieces, late));
  ASSERT_TRUE(loop.until([&] { return client.down.has_value(); }));
  EXPECT_TRUE(has_failed(client, Fault::remote_access)) << client.down->message();
  EXPECT_EQ(memory, Bytes(100));
}

// I3: one exposure, one lease; every one of them ends before the connection is done with.
TEST_P(MessageTest, EveryLeaseIsFreeAfterADisconnect) {
  connect();
  Bytes memory(4096);
  std::array<Lease, 4> leases;
  for (auto& lease : leases) {
    ASSERT_TRUE(client.endpoint->prepare(lease, memory, Access::remote_write));
  }
  Lease* const bound[] = {&leases[0], &leases[1]};
  const Bytes data = pattern(10);
  ASSERT_TRUE(client.send(data, bound));
  client.endpoint->cancel(leases[3]);
  EXPECT_EQ(leases[0].state, LeaseState::bound);
  EXPECT_EQ(leases[2].state, LeaseState::prepared);
  EXPECT_EQ(leases[3].state, LeaseState::free);
  server().endpoint.reset();
  ASSERT_TRUE(loop.until([&] { return client.down.has_value(); }));
  for (const auto& lease : leases) EXPECT_EQ(lease.state, LeaseState::free);
  EXPECT_FALSE(client.endpoint->prepare(leases[0], memory, Access::remote_write));
}

// I1: a receive belongs to the provider from post to completion.
TEST_P(MessageTest, PostingAReceiveTwiceIsADefectOfTheCaller) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  connect();
  ReceiveBuffer buffer;
  Bytes memory(100);
  buffer.memory = memory;
  ASSERT_TRUE(client.endpoint->post_receive(buffer));
  EXPECT_DEATH(static_cast<void>(client.endpoint->post_receive(buffer)), "posted");
}

INSTANTIATE_TEST_SUITE_P(Providers, MessageTest, ::testing::ValuesIn(chosen_providers()),
                         provider_name);

}  // namespace
}  // namespace nfsrdma::fabric::testing
