// Replies: matched, checked against what their Call offered, and decoded.
#include <gtest/gtest.h>

#include "tests/transport/rdma/harness.h"

namespace nfsrdma::test {
namespace {

using rdma::kMinHeader;
using rdma::RDMA_MSG;
using rdma::RDMA_NOMSG;

constexpr std::size_t kSinkSize = 9001;
constexpr std::size_t kMaxData = 1U << 20;

class Replies : public testing::Test {
 protected:
  explicit Replies(Harness::Setup setup = {}) : harness_(setup) {}
  void SetUp() override { harness_.connect(); }

  /// A READ-like call with a Write chunk of kSinkSize bytes.
  std::unique_ptr<TestCall> read_call(std::uint32_t xid, std::size_t max_reply = 100) {
    auto call = std::make_unique<TestCall>(harness_, xid);
    sink_ = harness_.data->acquire();
    call->call.result_sink = sink_.first(kSinkSize);
    call->call.max_reply = max_reply;
    call->submit();
    return call;
  }
  std::unique_ptr<TestCall> long_reply_call(std::uint32_t xid) {
    auto call = std::make_unique<TestCall>(harness_, xid);
    call->call.max_reply = 20000;
    call->submit();
    return call;
  }
  fabric::Segment write_segment(std::size_t message, std::size_t segment = 0) {
    return parse(harness_.peer().sent(message).bytes)
        ->header.chunks.write_entries[0]
        .target[segment];
  }
  fabric::Segment reply_segment(std::size_t message) {
    return parse(harness_.peer().sent(message).bytes)->header.chunks.rdma_reply.target[0];
  }
  void expect_connection_closed(const TestCall& call) {
    EXPECT_TRUE(harness_.peer().disconnecting());
    ASSERT_TRUE(call.done());
    EXPECT_FALSE(call.ok());
    EXPECT_EQ(call.error().layer, Layer::fabric);
    EXPECT_EQ(counter(*harness_.channel, "bad_replies"), 1u);
  }

  Harness harness_;
  Buffer sink_;
};

// V1-2.2.2-1, V1-4.2.1-2, F-8: a reply completes the Call with its XID and no other.
TEST_F(Replies, AreMatchedByXid) {
  TestCall call(harness_, 5);
  call.submit();
  rdma::Header other = harness_.reply_header(0);
  other.rdma_xid = 6;
  harness_.deliver(encode(other, rpc_reply(6)));
  EXPECT_FALSE(call.done());
  EXPECT_EQ(counter(*harness_.channel, "bad_xids"), 1u);
  harness_.answer(0);
  EXPECT_TRUE(call.ok());
}

// V1-2.2.2-2: a duplicate is dropped and its Receive posted again.
TEST_F(Replies, DuplicateIsDropped) {
  TestCall call(harness_, 5);
  call.submit();
  const Bytes reply = encode(harness_.reply_header(0), rpc_reply(5));
  harness_.deliver(reply);
  const std::size_t receives = harness_.peer().receives();
  for (int i = 0; i < 1000; ++i) harness_.deliver(reply);
  EXPECT_EQ(call.done_count(), 1);
  EXPECT_EQ(harness_.peer().receives(), receives);
  EXPECT_EQ(counter(*harness_.channel, "bad_xids"), 1000u);
  EXPECT_EQ(harness_.observer.closings, 0);
}

// V1-2.2.4-1: results are handed up without pad.
TEST_F(Replies, ResultsAreDecodedInPlace) {
  TestCall call(harness_, 5);
  call.submit();
  const Bytes results = {std::byte{0},   std::byte{0},   std::byte{0},   std::byte{5},
                         std::byte{'h'}, std::byte{'e'}, std::byte{'l'}, std::byte{'l'},
                         std::byte{'o'}, std::byte{0},   std::byte{0},   std::byte{0}};
  harness_.deliver(encode(harness_.reply_header(0), rpc_reply(5, results)));
  ASSERT_TRUE(call.ok());
  EXPECT_EQ(call.results().string(8, "greeting"), "hello");
  EXPECT_TRUE(call.results().finish("results"));
}

// V1-3.4.6-7, V1-3.4.6-5, V1-3.4.6-10, V1-4.3.2-9, V1-4.4.1-1, V1-3.4.2-1, D05-3.4-2, B4-4.4.4-1:
// a placed result is found where it was wanted, as long as it was written.
TEST_F(Replies, PlacedResult) {
  for (std::size_t length : {std::size_t{1}, std::size_t{5000}, kSinkSize}) {
    const std::size_t index = harness_.peer().sent_count();
    auto call = read_call(0x100 + static_cast<std::uint32_t>(length));
    ASSERT_TRUE(harness_.peer().remote_write(write_segment(index), pattern(length)));
    rdma::Header& header = harness_.reply_header(index);
    header.chunks.write_entries[0].target[0].length = static_cast<std::uint32_t>(length);
    harness_.deliver(
        encode(header, rpc_reply(header.rdma_xid, words({static_cast<std::uint32_t>(length)}))));
    ASSERT_TRUE(call->ok());
    const auto payload = call->results().payload(kMaxData, "data");
    EXPECT_TRUE(payload.placed);
    EXPECT_EQ(payload.data.data(), sink_.data());
    EXPECT_EQ(Bytes(payload.data.begin(), payload.data.end()), pattern(length));
    EXPECT_TRUE(call->results().finish("READ"));
  }
}

// V1-3.4.6-7, F-9: a reply that claims bytes which no RDMA Write has placed would show what lay in
// that memory before: the connection ends, and the call is told so.
TEST_F(Replies, ClaimOfBytesThatWereNotPlaced) {
  harness_.peer().tells_placed = true;
  auto call = read_call(7);
  std::fill(sink_.bytes().begin(), sink_.bytes().end(), std::byte{0x5A});
  ASSERT_TRUE(harness_.peer().remote_write(write_segment(0), pattern(99)));
  rdma::Header& header = harness_.reply_header(0);
  header.chunks.write_entries[0].target[0].length = 100;
  harness_.deliver(encode(header, rpc_reply(7, words({100}))));
  expect_connection_closed(*call);
  EXPECT_EQ(counter(*harness_.channel, "unplaced_replies"), 1u);
}

// V1-3.4.6-7, V1-3.4.6-3: what was placed may be claimed, all of it or less; an unused chunk claims
// nothing.
TEST_F(Replies, ClaimOfBytesThatWerePlaced) {
  harness_.peer().tells_placed = true;
  for (const std::uint32_t claimed : {100u, 60u, 0u}) {
    const std::size_t index = harness_.peer().sent_count();
    auto call = read_call(0x200 + claimed);
    if (claimed > 0) {
      ASSERT_TRUE(harness_.peer().remote_write(write_segment(index), pattern(100)));
    }
    rdma::Header& header = harness_.reply_header(index);
    header.chunks.write_entries[0].target[0].length = claimed;
    harness_.deliver(encode(header, rpc_reply(header.rdma_xid, words({claimed}))));
    ASSERT_TRUE(call->ok()) << claimed;
    EXPECT_EQ(call->results().payload(kMaxData, "data").data.size(), claimed);
  }
  EXPECT_EQ(counter(*harness_.channel, "unplaced_replies"), 0u);
}

// V1-3.5.3-3, F-9: the same with half a Reply chunk.
TEST_F(Replies, LongReplyThatWasPlacedByHalf) {
  harness_.peer().tells_placed = true;
  auto call = long_reply_call(7);
  const Bytes message = rpc_reply(7, pattern(10000));
  ASSERT_TRUE(
      harness_.peer().remote_write(reply_segment(0), std::span(message).first(message.size() / 2)));
  rdma::Header& header = harness_.reply_header(0);
  header.proc = RDMA_NOMSG;
  header.chunks.rdma_reply.target[0].length = static_cast<std::uint32_t>(message.size());
  harness_.deliver(encode(header));
  expect_connection_closed(*call);
  EXPECT_EQ(counter(*harness_.channel, "unplaced_replies"), 1u);
}

// A Reply chunk beside an inline reply is not looked at, whatever the server says of it.
TEST_F(Replies, UnusedReplyChunkMayClaimAnything) {
  harness_.peer().tells_placed = true;
  auto call = long_reply_call(7);
  rdma::Header& header = harness_.reply_header(0);
  header.chunks.rdma_reply.target[0].length = 100;
  harness_.deliver(encode(header, rpc_reply(7)));
  EXPECT_TRUE(call->ok());
}

// V1-8.1.3-1: a provider that cannot tell what was placed gets memory with nothing in it: what a
// reply claims without having written it is zeros, in either chunk.
TEST_F(Replies, ExposedMemoryIsClearWhereNobodyCanTell) {
  {
    Buffer reply = harness_.replies->acquire();  // the next Reply chunk is this slot
    std::fill(reply.bytes().begin(), reply.bytes().end(), std::byte{0x5A});
  }
  TestCall call(harness_, 7);
  sink_ = harness_.data->acquire();
  std::fill(sink_.bytes().begin(), sink_.bytes().end(), std::byte{0x5A});
  call.call.result_sink = sink_.first(kSinkSize);
  call.call.max_reply = 20000;
  call.submit();
  const auto leases = harness_.peer().sent(0).leases;
  ASSERT_EQ(leases.size(), 2u);
  for (const fabric::Lease* lease : leases) {
    EXPECT_TRUE(std::all_of(lease->memory.begin(), lease->memory.end(),
                            [](auto byte) { return byte == std::byte{0}; }));
  }
  EXPECT_EQ(sink_.bytes()[kSinkSize], std::byte{0x5A}) << "what is not exposed is left alone";
  harness_.answer(0);
}

// A reply costs one look for its XID and one at the queue.
TEST_F(Replies, CostOneLookup) {
  TestCall call(harness_, 5);
  call.submit();
  const auto lookups = counter(*harness_.channel, "xid_lookups");
  const auto pumps = counter(*harness_.channel, "pumps");
  harness_.answer(0);
  ASSERT_TRUE(call.ok());
  EXPECT_EQ(counter(*harness_.channel, "xid_lookups"), lookups + 1);
  EXPECT_EQ(counter(*harness_.channel, "pumps"), pumps + 1);
}

// RFC 5531 section 9: a reject_stat that is neither RPC_MISMATCH nor AUTH_ERROR says nothing about
// the caller's rights.
TEST_F(Replies, UndefinedRejectStatCannotBeDecoded) {
  TestCall call(harness_, 5);
  call.submit();
  harness_.deliver(encode(harness_.reply_header(0), words({5, 1, 1, 2, 1})));
  ASSERT_TRUE(call.done());
  ASSERT_FALSE(call.ok());
  EXPECT_EQ(call.error().layer, Layer::decode);
  EXPECT_NE(call.error().message().find("reject_stat"), std::string::npos);
}

// V1-3.4.6-10, B4-4.4.4-1: inline count and placed length must agree.
TEST_F(Replies, CountThatDisagreesFailsTheCall) {
  auto call = read_call(7);
  rdma::Header& header = harness_.reply_header(0);
  header.chunks.write_entries[0].target[0].length = 100;
  harness_.deliver(encode(header, rpc_reply(7, words({101}))));
  ASSERT_TRUE(call->ok());
  call->results().payload(kMaxData, "data");
  EXPECT_EQ(call->results().fault(), xdr::Fault::placed_length);
}

// V1-6.1-7, V1-4.3.2-2, B4-8.1.1-1: an eligible result that comes inline in spite of its Write
// chunk is an error.
TEST_F(Replies, InlineResultDespiteAWriteChunkFails) {
  auto call = read_call(7);
  Bytes results = words({8, 1, 2});
  harness_.deliver(encode(harness_.reply_header(0), rpc_reply(7, results)));
  ASSERT_TRUE(call->ok());
  call->results().payload(kMaxData, "data");
  EXPECT_EQ(call->results().fault(), xdr::Fault::placed_length);
}

// V1-6.1-6, B4-8.1.1-1: bytes in the Write chunk that no eligible result accounts for.
TEST_F(Replies, PlacedBytesWithoutAResultFail) {
  auto call = read_call(7);
  rdma::Header& header = harness_.reply_header(0);
  header.chunks.write_entries[0].target[0].length = 100;
  harness_.deliver(encode(header, rpc_reply(7, words({42}))));
  ASSERT_TRUE(call->ok());
  EXPECT_EQ(call->results().u32("status"), 42u);
  EXPECT_FALSE(call->results().finish("READ"));
}

// V1-4.3.2-10, V1-4.3.2-12: without a Write chunk the result is inline.
TEST_F(Replies, InlineResultWithoutAWriteChunk) {
  TestCall call(harness_, 7);
  sink_ = harness_.data->acquire();
  call.call.result_sink = sink_.first(100);
  call.submit();
  harness_.deliver(encode(harness_.reply_header(0), rpc_reply(7, words({4, 0x01020304}))));
  ASSERT_TRUE(call.ok());
  const auto payload = call.results().payload(kMaxData, "data");
  EXPECT_FALSE(payload.placed);
  EXPECT_EQ(payload.data.size(), 4u);
}

// V1-4.3.2-7, V1-4.3.2-8, F-5, V1-3.4.6-6, E-8267-9: an unused chunk and an empty one in its place
// both mean that nothing was written; a result of no bytes and a result arm without data are fine
// with both.
TEST_F(Replies, UnusedAndEmptyChunksMeanNothingWritten) {
  for (bool empty : {false, true}) {
    const std::size_t index = harness_.peer().sent_count();
    auto call = read_call(empty ? 8 : 9);
    rdma::Header& header = harness_.reply_header(index);
    if (empty) header.chunks.write_entries[0].count = 0;
    harness_.deliver(encode(header, rpc_reply(header.rdma_xid, words({0}))));
    ASSERT_TRUE(call->ok());
    EXPECT_TRUE(call->results().payload(kMaxData, "data").data.empty());
    EXPECT_TRUE(call->results().finish("READ"));
  }
}

// V1-3.5.3-3, V1-4.3.3-4, V1-4.2.4-3: a Long Reply is found in the Reply chunk.
TEST_F(Replies, LongReply) {
  auto call = long_reply_call(11);
  const Bytes message = rpc_reply(11, pattern(16000));
  ASSERT_TRUE(harness_.peer().remote_write(reply_segment(0), message));
  rdma::Header& header = harness_.reply_header(0);
  header.proc = RDMA_NOMSG;
  header.chunks.rdma_reply.target[0].length = static_cast<std::uint32_t>(message.size());
  harness_.deliver(encode(header));
  ASSERT_TRUE(call->ok());
  const auto results = call->results().raw(16000, "results");
  EXPECT_EQ(Bytes(results.begin(), results.end()), pattern(16000));
  EXPECT_TRUE(call->results().finish("results"));
  EXPECT_EQ(counter(*harness_.channel, "long_replies"), 1u);
}

// The memory of a Long Reply goes back to its pool with the Reply, not before.
TEST_F(Replies, ReplyChunkLivesAsLongAsTheReply) {
  auto call = long_reply_call(11);
  const Bytes message = rpc_reply(11);
  ASSERT_TRUE(harness_.peer().remote_write(reply_segment(0), message));
  rdma::Header& header = harness_.reply_header(0);
  header.proc = RDMA_NOMSG;
  header.chunks.rdma_reply.target[0].length = static_cast<std::uint32_t>(message.size());
  harness_.deliver(encode(header));
  ASSERT_TRUE(call->ok());
  const std::size_t before = harness_.replies->available();
  call->call.reply.reset();
  EXPECT_EQ(harness_.replies->available(), before + 1);
}

// V1-4.3.3-2, V1-4.3.3-3: a short reply in spite of a Reply chunk, returned unused or left out.
TEST_F(Replies, ShortReplyDespiteAReplyChunk) {
  for (bool returned : {true, false}) {
    const std::size_t index = harness_.peer().sent_count();
    auto call = long_reply_call(returned ? 12 : 13);
    rdma::Header& header = harness_.reply_header(index);
    header.chunks.has_reply = returned;
    harness_.deliver(encode(header, rpc_reply(header.rdma_xid)));
    EXPECT_TRUE(call->ok());
    EXPECT_EQ(harness_.replies->available(), harness_.replies->slots());
  }
}

struct BadReply {
  const char* name;
  void (*spoil)(rdma::Header&);
};
void PrintTo(const BadReply& bad, std::ostream* out) { *out << bad.name; }

class MalformedReplies : public Replies, public testing::WithParamInterface<BadReply> {};

// V1-4.5-4, F-9, V1-4.2.4-5: a reply that cannot be trusted is dropped without an answer, and as
// its Call would wait for ever, the connection ends.
TEST_P(MalformedReplies, EndTheConnection) {
  auto call = read_call(21, 20000);
  rdma::Header& header = harness_.reply_header(0);
  GetParam().spoil(header);
  Bytes payload = header.proc == RDMA_MSG ? rpc_reply(21, words({0})) : Bytes{};
  harness_.deliver(encode(header, payload));
  expect_connection_closed(*call);
  EXPECT_EQ(call->call.losses.same_fault, 1u);
  harness_.settle();
  EXPECT_EQ(harness_.observer.downs, 1);
}

const BadReply kBadReplies[] = {
    // V1-4.3.1-3, D05-3.4-1, D05-3.6-1
    {"ReadList",
     [](rdma::Header& h) {
       h.chunks.add_read(4, {1, 2, 3});
     }},
    // V1-4.3.2-13
    {"MissingWriteChunk", [](rdma::Header& h) { h.chunks.write_count = 0; }},
    {"ExtraWriteChunk", [](rdma::Header& h) { h.chunks.add_write(); }},
    // V1-3.4.6-4
    {"ExtraSegment",
     [](rdma::Header& h) {
       h.chunks.write_entries[0].add({1, 0, 3});
     }},
    // V1-3.4.3-2
    {"ForeignHandle", [](rdma::Header& h) { ++h.chunks.write_entries[0].target[0].handle; }},
    {"ForeignOffset", [](rdma::Header& h) { ++h.chunks.write_entries[0].target[0].offset; }},
    // V1-3.4.6-5, V1-8.2.2-7
    {"MoreThanProvided",
     [](rdma::Header& h) { h.chunks.write_entries[0].target[0].length = kSinkSize + 1; }},
    // V1-4.3.3-4
    {"LongReplyOfNothing", [](rdma::Header& h) { h.proc = RDMA_NOMSG; }},
    {"LongReplyTooLong",
     [](rdma::Header& h) {
       h.proc = RDMA_NOMSG;
       h.chunks.rdma_reply.target[0].length = 20001;
     }},
    {"ForeignReplyChunk",
     [](rdma::Header& h) {
       h.proc = RDMA_NOMSG;
       h.chunks.rdma_reply.target[0] = {7, 100, 0};
     }},
    {"LongReplyWithoutReplyChunk",
     [](rdma::Header& h) {
       h.proc = RDMA_NOMSG;
       h.chunks.has_reply = false;
     }},
    // V1-4.2.2-1, V2-5-4
    {"OtherVersion", [](rdma::Header& h) { h.rdma_vers = 2; }},
    // V1-4.2.4-1, V1-7-1
    {"UndefinedProc", [](rdma::Header& h) { h.proc = static_cast<rdma::rdma_proc>(5); }},
};
INSTANTIATE_TEST_SUITE_P(All, MalformedReplies, testing::ValuesIn(kBadReplies),
                         [](const auto& bad) { return bad.param.name; });

// V1-4.3.3-3: a Reply chunk that was never offered.
TEST_F(Replies, ReplyChunkThatWasNotOffered) {
  TestCall call(harness_, 5);
  call.submit();
  rdma::Header& header = harness_.reply_header(0);
  header.chunks.has_reply = true;
  header.chunks.rdma_reply.count = 0;
  header.chunks.rdma_reply.add({1, 0, 3});
  harness_.deliver(encode(header, rpc_reply(5)));
  expect_connection_closed(call);
}

// F-8, V1-4.2.1-2, V1-3.2-1, D05-4.1-1: the XID of the RPC message differs from that of the header.
TEST_F(Replies, PayloadWithAnotherXid) {
  TestCall call(harness_, 5);
  call.submit();
  harness_.deliver(encode(harness_.reply_header(0), rpc_reply(6)));
  expect_connection_closed(call);
}

// V1-4.5-2, V1-4.5-4: cut off behind the fixed words, in the lists, or within the RPC header.
TEST_F(Replies, TruncatedReplies) {
  for (std::size_t length : {std::size_t{16}, std::size_t{27}, std::size_t{28}, std::size_t{35}}) {
    Harness harness;
    harness.connect();
    TestCall call(harness, 5);
    call.submit();
    Bytes reply = encode(harness.reply_header(0), rpc_reply(5));
    reply.resize(length);
    harness.deliver(reply);
    ASSERT_TRUE(call.done()) << length;
    EXPECT_EQ(call.error().layer, Layer::fabric);
  }
}

// V1-4.5-2: too short to tell whose it is: dropped, and the Receive posted again.
TEST_F(Replies, RuntsAreDropped) {
  TestCall call(harness_, 5);
  call.submit();
  const std::size_t receives = harness_.peer().receives();
  for (std::size_t length = 0; length < 16; ++length) harness_.deliver(Bytes(length));
  EXPECT_EQ(harness_.peer().receives(), receives);
  EXPECT_EQ(counter(*harness_.channel, "bad_messages"), 16u);
  harness_.answer(0);
  EXPECT_TRUE(call.ok());
}

// V1-4.5-2, F-9: a message too short for a header is dropped; one that has the XID of an open Call
// ends the connection as other bad replies do, for that Call would wait for ever.
TEST_F(Replies, MessageTooShortForAHeader) {
  const Bytes whole = words({5, 1, 32, RDMA_MSG});
  for (std::size_t length = 0; length < whole.size(); ++length) {
    Harness harness;
    harness.connect();
    TestCall call(harness, 5);
    call.submit();
    Bytes other = words({6, 1, 32, RDMA_MSG});
    other.resize(length);
    harness.deliver(other);
    EXPECT_FALSE(call.done()) << length;
    harness.deliver(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)));
    EXPECT_EQ(call.done(), length >= 4) << length;
    EXPECT_EQ(harness.peer().disconnecting(), length >= 4) << length;
    EXPECT_EQ(counter(*harness.channel, "bad_messages"), 2u);
  }
}

// V1-4.6.2-2, V1-4.6.2-1, D05-3.6-1, BD-2: RDMA_DONE is dropped, and its Receive posted again. It
// would be about a Call of the server's, so that an open Call with its XID waits for its reply.
TEST_F(Replies, DoneIsDropped) {
  TestCall call(harness_, 5);
  call.submit();
  const std::size_t receives = harness_.peer().receives();
  harness_.deliver(words({5, 1, 32, rdma::RDMA_DONE}));
  EXPECT_EQ(harness_.peer().receives(), receives);
  EXPECT_EQ(harness_.peer().sent_count(), 1u);
  harness_.answer(0);
  EXPECT_TRUE(call.ok());
}

// V1-4.6.1-3, D05-3.5-1: RDMA_MSGP is dropped without an answer. One with the XID of an open Call
// is all the reply that Call will get, so it ends the connection as other bad replies do (F-9).
TEST_F(Replies, MsgpIsDropped) {
  TestCall call(harness_, 5);
  call.submit();
  harness_.deliver(words({77, 1, 32, rdma::RDMA_MSGP, 0, 0, 0, 0, 0}));
  EXPECT_FALSE(call.done());
  EXPECT_EQ(harness_.observer.closings, 0);
  harness_.deliver(words({5, 1, 32, rdma::RDMA_MSGP, 0, 0, 0, 0, 0}));
  EXPECT_EQ(harness_.peer().sent_count(), 1u);
  expect_connection_closed(call);
}

// V1-2.2.2-1: a message that is neither Call nor Reply.
TEST_F(Replies, UndefinedMessageType) {
  TestCall call(harness_, 5);
  call.submit();
  harness_.deliver(encode(harness_.reply_header(0), words({6, 2, 0, 0, 0, 0})));
  EXPECT_EQ(counter(*harness_.channel, "bad_messages"), 1u);
  expect_connection_closed(call);
}

// RPC-level failures end the call, with the connection as it was.
TEST_F(Replies, RpcErrorsEndTheCallOnly) {
  TestCall call(harness_, 5);
  call.submit();
  harness_.deliver(encode(harness_.reply_header(0), words({5, 1, 0, 0, 0, 4})));
  ASSERT_TRUE(call.done());
  EXPECT_TRUE(call.error().is(Layer::rpc, static_cast<int>(rpc::Fault::garbage_args)));
  EXPECT_EQ(harness_.observer.closings, 0);
  EXPECT_EQ(counter(*harness_.channel, "messages_held"), 0u);
}

class SplitReplies : public Replies {
 protected:
  SplitReplies() : Replies(setup()) {}
  static Harness::Setup setup() {
    Harness::Setup setup;
    setup.options.max_segment_length = 4001;
    return setup;
  }
};

// V1-3.4.4-1, V1-3.4.6-3, V1-3.4.6-7: several segments are one contiguous result, in array order.
TEST_F(SplitReplies, SegmentsAreFilledInOrder) {
  auto call = read_call(31);
  rdma::Header& header = harness_.reply_header(0);
  ASSERT_EQ(header.chunks.write_entries[0].count, 3u);
  const Bytes data = pattern(5000);
  ASSERT_TRUE(harness_.peer().remote_write(write_segment(0, 0), std::span(data).first(4001)));
  ASSERT_TRUE(harness_.peer().remote_write(write_segment(0, 1), std::span(data).subspan(4001)));
  header.chunks.write_entries[0].target[0].length = 4001;
  header.chunks.write_entries[0].target[1].length = 999;
  harness_.deliver(encode(header, rpc_reply(31, words({5000}))));
  ASSERT_TRUE(call->ok());
  const auto payload = call->results().payload(kMaxData, "data");
  EXPECT_EQ(Bytes(payload.data.begin(), payload.data.end()), data);
}

// V1-3.4.6-3: a hole between segments would hand up bytes that were never written.
TEST_F(SplitReplies, GapBetweenSegmentsIsMalformed) {
  auto call = read_call(31);
  rdma::Header& header = harness_.reply_header(0);
  header.chunks.write_entries[0].target[0].length = 4000;
  header.chunks.write_entries[0].target[1].length = 1;
  harness_.deliver(encode(header, rpc_reply(31, words({4001}))));
  expect_connection_closed(*call);
}

// V1-3.4.6-4: fewer segments than were sent.
TEST_F(SplitReplies, MissingSegmentIsMalformed) {
  auto call = read_call(31);
  rdma::Header& header = harness_.reply_header(0);
  header.chunks.write_entries[0].count = 2;
  harness_.deliver(encode(header, rpc_reply(31, words({0}))));
  expect_connection_closed(*call);
}

}  // namespace
}  // namespace nfsrdma::test
