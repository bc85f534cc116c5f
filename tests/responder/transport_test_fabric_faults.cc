// Effects of each fault at the fabric boundary on the wire, seen by a client that sends by hand.
#include "tests/responder/read_chunk_fixture.h"
#include "tests/responder/reply_fixture.h"
#include "tests/support/counter_of.h"

namespace nfsrdma::responder {
namespace {

constexpr std::uint32_t kFabricXid = 0x7101;
constexpr std::size_t kData = 64;

class WriteFaultTest : public ReplyTest {
 protected:
  /// A call with a Write chunk meets the rule; null: the connection has ended instead of a reply.
  std::optional<ParsedReply> meet(std::string_view rule, bool invalidation = false) {
    start();
    auto added = responder->add_fault(rule);
    EXPECT_TRUE(added) << added.error().message();
    auto& requester = connect(sizes(4096, 4096, invalidation));
    data = pattern(kData);
    answer_with({data});
    memory = &sink(requester, 2 * kData);
    rdma::Header header = message_header(kFabricXid);
    header.chunks.add_write()->add(memory->part(0, kData));
    requester.send(assemble(header, rpc_call(kFabricXid)));
    run_until([&] { return requester.down() || requester.arrived() > 0; });
    fired = responder->faults().fired(1);
    if (requester.arrived() == 0) return std::nullopt;
    return next_reply(requester);
  }
  Bytes placed() { return copy(memory->memory().first(kData)); }

  Bytes data;
  Exposed* memory = nullptr;
  std::uint64_t fired = 0;
};

TEST_F(WriteFaultTest, DroppedWriteLeavesWhatWasThere) {
  ASSERT_TRUE(meet("write=drop"));
  EXPECT_EQ(placed(), Bytes(kData, kSentinel));
  EXPECT_EQ(fired, 1U);
}

TEST_F(WriteFaultTest, CutWriteHasItsFirstBytesOnly) {
  ASSERT_TRUE(meet("write=cut:10"));
  Bytes expected(kData, kSentinel);
  std::copy_n(data.begin(), 10, expected.begin());
  EXPECT_EQ(placed(), expected);
}

TEST_F(WriteFaultTest, CorruptWriteHasOneOtherByte) {
  ASSERT_TRUE(meet("write=corrupt:7"));
  Bytes expected = data;
  expected[7] ^= std::byte{0xff};
  EXPECT_EQ(placed(), expected);
}

TEST_F(WriteFaultTest, LateWriteComesBehindTheReply) {
  ASSERT_TRUE(meet("write=late"));
  run_until([&] { return placed() == data; });
}

TEST_F(WriteFaultTest, WriteToAnotherPlace) {
  ASSERT_TRUE(meet("write=to:+4"));
  EXPECT_EQ(copy(memory->memory().subspan(4, kData)), data);
  EXPECT_EQ(memory->memory()[0], kSentinel);
}

TEST_F(WriteFaultTest, WriteOfAForeignHandleEndsTheConnection) {
  EXPECT_FALSE(meet("write=stag:+1"));
  EXPECT_EQ(placed(), Bytes(kData, kSentinel));
}

TEST_F(WriteFaultTest, WriteInFrontOfTheMemoryEndsTheConnection) {
  EXPECT_FALSE(meet("write=to:-4"));
  EXPECT_EQ(placed(), Bytes(kData, kSentinel));
}

TEST_F(WriteFaultTest, ConnectionEndsInTheMiddleOfAWrite) {
  EXPECT_FALSE(meet("disconnect=mid-write:20"));
  Bytes expected(kData, kSentinel);
  std::copy_n(data.begin(), 20, expected.begin());
  EXPECT_EQ(placed(), expected);
}

TEST_F(WriteFaultTest, SendThatInvalidatesIsASend) {
  const auto reply = meet("invalidate=none", true);
  ASSERT_TRUE(reply);
  EXPECT_FALSE(reply->invalidated);
}

TEST_F(WriteFaultTest, SendInvalidatesUnasked) {
  const auto reply = meet("invalidate=unasked");
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->invalidated, memory->segment().handle);
}

TEST_F(WriteFaultTest, InvalidationOfAForeignHandleEndsTheConnection) {
  EXPECT_FALSE(meet("invalidate=wrong", true));
}

TEST_F(WriteFaultTest, ConnectionEndsBeforeAndBehindTheReply) {
  EXPECT_FALSE(meet("disconnect=before-send"));
  EXPECT_EQ(placed(), data);
}

TEST_F(WriteFaultTest, ReplyComesBeforeTheEnd) {
  EXPECT_TRUE(meet("disconnect=after-send"));
  run_until([&] { return requesters.front()->down(); });
}

TEST_F(WriteFaultTest, WriteForWantOfResources) { EXPECT_FALSE(meet("resources=write")); }
TEST_F(WriteFaultTest, SendForWantOfResources) { EXPECT_FALSE(meet("resources=send")); }

class FabricFaultTest : public ReplyTest {
 protected:
  void fault(std::string_view rule) {
    if (!responder) start();
    auto added = responder->add_fault(rule);
    ASSERT_TRUE(added) << added.error().message();
  }
};

TEST_F(FabricFaultTest, DroppedSendIsDoneAndNeverSent) {
  fault("send=drop:times=1");
  auto& requester = connect();
  requester.send(plain_call(kFabricXid));
  expect_silence(requester);
  EXPECT_EQ(service.calls, 1);
}

TEST_F(FabricFaultTest, PrivateDataIsAnother) {
  fault("private-data=send:1024,recv:65536:times=1");
  auto& one = connect();
  EXPECT_EQ(one.server_data().send_size, 1024U);
  EXPECT_EQ(one.server_data().receive_size, 65536U);
  auto& other = connect();
  EXPECT_EQ(other.server_data().receive_size, 4096U);
}

TEST_F(FabricFaultTest, RejectedConnectionIsNone) {
  fault("connect=reject:times=1");
  requesters.push_back(std::make_unique<RawRequester>(*fabric, address, sizes(4096, 4096), 4));
  run_until([&] { return requesters.back()->down(); });
  EXPECT_TRUE(
      requesters.back()->reason().is(Layer::fabric, static_cast<int>(net::Fault::rejected)));
  EXPECT_TRUE(exchange(connect(), plain_call(kFabricXid)).results());
}

TEST_F(FabricFaultTest, ReceivesAreWithheldAndTheClientOverrunsThem) {
  fault("receives=hold:after=2");
  auto& requester = connect();
  for (std::uint32_t i = 0; i < 3; ++i) requester.send(plain_call(kFabricXid + i));
  run_until([&] { return requester.down(); });
  EXPECT_LE(service.calls, 2);
}

TEST_F(FabricFaultTest, LateSendCompletionKeepsTheReplysMemory) {
  fault("send-done=20:times=1");
  auto& requester = connect();
  EXPECT_TRUE(exchange(requester, plain_call(kFabricXid)).results());
  EXPECT_TRUE(exchange(requester, plain_call(kFabricXid + 1)).results());
  EXPECT_EQ(responder->faults().fired(1), 1U);
}

TEST_F(FabricFaultTest, PostsForACallMeetItsOperationsRulesOnly) {
  fault("send=drop:op=READ");
  EXPECT_TRUE(exchange(connect(), plain_call(kFabricXid)).results());
  EXPECT_EQ(responder->faults().fired(1), 0U);
}

class ReadFaultTest : public ReadChunkTest {
 protected:
  /// A call whose argument comes in a Read chunk meets the rule. Null: the connection has ended.
  std::optional<ParsedReply> meet(std::string_view rule) {
    start();
    auto added = responder->add_fault(rule);
    EXPECT_TRUE(added) << added.error().message();
    auto& requester = connect();
    take_payloads(1);
    data = pattern(kData);
    auto& from = expose(requester, data);
    rdma::Header header = message_header(kReadChunkXid);
    header.chunks.add_read(arguments_at() + xdr::kUnit, from.segment());
    const auto arguments = words({kData, 7});
    requester.send(assemble(header, rpc_call(kReadChunkXid, arguments)));
    run_until([&] { return requester.down() || requester.arrived() > 0; });
    EXPECT_GT(responder->faults().fired(1), 0U);
    if (requester.arrived() == 0) return std::nullopt;
    return next_reply(requester);
  }
  Bytes data;
};

TEST_F(ReadFaultTest, CutReadBringsTheFirstBytesOnly) {
  const auto reply = meet("read=cut:8");
  ASSERT_TRUE(reply && reply->results());
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_TRUE(std::equal(data.begin(), data.begin() + 8, taken[0].begin()));
  EXPECT_NE(taken[0], data);
}

TEST_F(ReadFaultTest, ReadOfAForeignHandleEndsTheConnection) { EXPECT_FALSE(meet("read=stag:+1")); }
TEST_F(ReadFaultTest, ReadBehindTheMemoryEndsTheConnection) { EXPECT_FALSE(meet("read=to:+4")); }
TEST_F(ReadFaultTest, ConnectionEndsBehindARead) { EXPECT_FALSE(meet("disconnect=after-read")); }
TEST_F(ReadFaultTest, ReadForWantOfResources) { EXPECT_FALSE(meet("resources=read")); }

}  // namespace
}  // namespace nfsrdma::responder
