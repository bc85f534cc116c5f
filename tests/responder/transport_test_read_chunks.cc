// Read chunks: pulled, joined, placed, and refused (RFC 8166 section 3.4.5).
#include "tests/responder/read_chunk_fixture.h"

namespace nfsrdma::responder {
namespace {

constexpr std::uint32_t kReadChunksXid = kReadChunkXid;

// V1-3.4.5-6, V1-3.4.5-4, V1-3.4.4-1, V1-3.5.2-2, V1-3.4.1-1, V1-3.4.4-8
TEST_F(ReadChunkTest, SegmentsAreJoinedInListOrder) {
  auto& requester = connect();
  take_payloads(1);
  const auto data = pattern(21);
  // Three pieces of odd lengths, lying in memory in another order than in the list.
  auto& memory = requester.expose(64, fabric::Access::remote_read);
  std::copy_n(data.begin(), 5, memory.memory().begin() + 40);
  std::copy_n(data.begin() + 5, 9, memory.memory().begin() + 2);
  std::copy_n(data.begin() + 14, 7, memory.memory().begin() + 20);
  const auto position = arguments_at() + 4;
  rdma::Header header = message_header(kReadChunksXid);
  header.chunks.add_read(position, memory.part(40, 5));
  header.chunks.add_read(position, memory.part(2, 9));
  header.chunks.add_read(position, memory.part(20, 7));
  const auto reply =
      exchange(requester, assemble(header, rpc_call(kReadChunksXid, words({21, 77}))));
  EXPECT_TRUE(reply.results());
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(taken[0], data);
  EXPECT_TRUE(placed);
  EXPECT_EQ(behind, 77U);
  EXPECT_EQ(counters().rdma_read_bytes.value(), 21U);
}

// V1-3.4.5-10, V1-3.4.5-11, V1-3.4.5-12, V1-3.4.5-13, B4-4.4.4-1, F-19
TEST_F(ReadChunkTest, PadMayBeInTheChunkOrNot) {
  auto& requester = connect();
  take_payloads(1);
  for (const std::uint32_t count : {1U, 4U, 5U, 6U, 7U, 8U}) {
    for (const bool with_pad : {false, true}) {
      Bytes data = pattern(count);
      if (with_pad) data.resize(xdr::padded(count));
      rdma::Header header = message_header(kReadChunksXid);
      header.chunks.add_read(arguments_at() + 4, expose(requester, data).segment());
      const auto reply =
          exchange(requester, assemble(header, rpc_call(kReadChunksXid, words({count, 77}))));
      EXPECT_TRUE(reply.results()) << count << with_pad;
      EXPECT_EQ(taken.at(0), pattern(count));
      EXPECT_EQ(behind, 77U);
    }
  }
}

// V1-3.4.5-11: the pad may be a segment of its own.
TEST_F(ReadChunkTest, PadMayBeASegmentOfItsOwn) {
  auto& requester = connect();
  take_payloads(1);
  Bytes data = pattern(5);
  data.resize(8);
  auto& memory = expose(requester, data);
  rdma::Header header = message_header(kReadChunksXid);
  header.chunks.add_read(arguments_at() + 4, memory.part(0, 5));
  header.chunks.add_read(arguments_at() + 4, memory.part(5, 3));
  EXPECT_TRUE(
      exchange(requester, assemble(header, rpc_call(kReadChunksXid, words({5, 77})))).results());
  EXPECT_EQ(taken.at(0), pattern(5));
}

// V1-3.4.5-12, V1-4.5.2-2: count 5 with a chunk of 6, 4 or 9.
TEST_F(ReadChunkTest, LengthThatIsNotTheCountsIsGarbage) {
  auto& requester = connect();
  take_payloads(1);
  for (const std::size_t length : {6, 4, 9}) {
    rdma::Header header = message_header(kReadChunksXid);
    header.chunks.add_read(arguments_at() + 4, expose(requester, pattern(length)).segment());
    EXPECT_TRUE(
        garbage(exchange(requester, assemble(header, rpc_call(kReadChunksXid, words({5, 77}))))));
  }
  EXPECT_EQ(counters().garbage_args.value(), 3U);
}

// V1-3.4.5-2, V1-3.4.5-8, V1-3.4.4-7, V1-4.3.1-1: two items, listed in any order.
TEST_F(ReadChunkTest, PositionsMayDescendAndCountTheUnreducedStream) {
  auto& requester = connect();
  take_payloads(2);
  const auto first = pattern(5, 3);
  const auto second = pattern(13, 9);
  const auto first_at = arguments_at() + 4;
  const auto second_at = first_at + 8 + 4 + 4;  // the first with its pad, a word, a count
  for (const bool descending : {false, true}) {
    auto& one = expose(requester, first);
    auto& two = expose(requester, second);
    rdma::Header header = message_header(kReadChunksXid);
    if (!descending) header.chunks.add_read(first_at, one.segment());
    header.chunks.add_read(second_at, two.part(0, 4));
    if (descending) header.chunks.add_read(first_at, one.segment());
    header.chunks.add_read(second_at, two.part(4, 9));
    const auto call = rpc_call(kReadChunksXid, words({5, 71, 13, 72}));
    EXPECT_TRUE(exchange(requester, assemble(header, call)).results());
    ASSERT_EQ(taken.size(), 2U);
    EXPECT_EQ(taken[0], first);
    EXPECT_EQ(taken[1], second);
    EXPECT_EQ(behind, 72U);
  }
}

// V1-3.5.2-1: one item by chunk, the other inline.
TEST_F(ReadChunkTest, ItemsMayBeReducedOrNot) {
  auto& requester = connect();
  take_payloads(2);
  Bytes arguments = words({5});
  const auto inline_data = pattern(5, 4);
  arguments.insert(arguments.end(), inline_data.begin(), inline_data.end());
  arguments.resize(4 + 8);
  const auto rest = words({71, 9, 72});
  arguments.insert(arguments.end(), rest.begin(), rest.end());
  const auto chunk_data = pattern(9, 8);
  rdma::Header header = message_header(kReadChunksXid);
  header.chunks.add_read(arguments_at() + 4 + 8 + 4 + 4, expose(requester, chunk_data).segment());
  EXPECT_TRUE(exchange(requester, assemble(header, rpc_call(kReadChunksXid, arguments))).results());
  ASSERT_EQ(taken.size(), 2U);
  EXPECT_EQ(taken[0], inline_data);
  EXPECT_EQ(taken[1], chunk_data);
  EXPECT_TRUE(placed);
}

// V1-3.4.5-3, V1-4.5.2-1
TEST_F(ReadChunkTest, PositionThatIsNoMultipleOfFourIsAnsweredErrChunk) {
  auto& requester = connect();
  take_payloads(1);
  auto& memory = expose(requester, pattern(4));
  auto bytes = words({kReadChunksXid, 1, 1, rdma::RDMA_MSG, 1, 6, memory.segment().handle, 4,
                      static_cast<std::uint32_t>(memory.segment().offset >> 32),
                      static_cast<std::uint32_t>(memory.segment().offset), 0, 0, 0});
  const auto call = rpc_call(kReadChunksXid, words({4, 77}));
  bytes.insert(bytes.end(), call.begin(), call.end());
  expect_error(requester, bytes, rdma::ERR_CHUNK);
  EXPECT_EQ(counters().rdma_read_bytes.value(), 0U);
}

// V1-3.4.5-7, V1-4.5.2-2, V1-6.1-5: a Position inside another item, behind the end, overlapping,
// and at an item that is not DDP-eligible.
TEST_F(ReadChunkTest, PositionWhereNoEligibleItemIsIsGarbage) {
  auto& requester = connect();
  take_payloads(1);
  const auto call = rpc_call(kReadChunksXid, words({4, 0x01020304, 77}));
  for (const std::uint32_t position :
       {4U, arguments_at(), arguments_at() + 8, arguments_at() + 12, arguments_at() + 400}) {
    rdma::Header header = message_header(kReadChunksXid);
    header.chunks.add_read(position, expose(requester, pattern(4)).segment());
    EXPECT_TRUE(garbage(exchange(requester, assemble(header, call)))) << position;
  }
  rdma::Header overlapping = message_header(kReadChunksXid);
  overlapping.chunks.add_read(arguments_at() + 4, expose(requester, pattern(64)).segment());
  overlapping.chunks.add_read(arguments_at() + 8, expose(requester, pattern(8)).segment());
  EXPECT_TRUE(garbage(exchange(requester, assemble(overlapping, call))));
}

// V1-3.4.4-2, V1-8.1.4-1: nothing is pulled of a chunk that is too large.
TEST_F(ReadChunkTest, OversizeChunkIsAnsweredErrChunkAndNotPulled) {
  auto& requester = connect();
  take_payloads(1);
  const auto& memory = requester.expose(64, fabric::Access::remote_read);
  const auto call = rpc_call(kReadChunksXid, words({4, 77}));
  for (const std::uint32_t length : {0xffffffffU, 0x80000000U, (1U << 20) + (1U << 16) + 4}) {
    rdma::Header header = message_header(kReadChunksXid);
    header.chunks.add_read(arguments_at() + 4,
                           {memory.segment().handle, length, memory.segment().offset});
    expect_error(requester, assemble(header, call), rdma::ERR_CHUNK);
  }
  // Sixteen segments whose sum wraps 32 bits.
  rdma::Header wrapping = message_header(kReadChunksXid);
  for (int i = 0; i < 16; ++i) {
    wrapping.chunks.add_read(arguments_at() + 4, {memory.segment().handle, 0x10000000, 0});
  }
  expect_error(requester, assemble(wrapping, call), rdma::ERR_CHUNK);
  EXPECT_EQ(counters().rdma_read_bytes.value(), 0U);
  EXPECT_TRUE(requester.up());
}

// V1-3.4.4-2: a chunk of exactly 1 MiB, more than any single message, arrives whole.
TEST_F(ReadChunkTest, LargestPayloadArrivesWhole) {
  auto& requester = connect();
  take_payloads(1);
  const auto data = pattern(1 << 20, 5);
  rdma::Header header = message_header(kReadChunksXid);
  header.chunks.add_read(arguments_at() + 4, expose(requester, data).segment());
  const auto call = rpc_call(kReadChunksXid, words({1 << 20, 77}));
  EXPECT_TRUE(exchange(requester, assemble(header, call)).results());
  EXPECT_EQ(taken.at(0), data);
}

// E-8267-10, E-8267-11, V1-6.1-2: sixteen segments are taken, more chunks than items can be are
// not.
TEST_F(ReadChunkTest, SixteenSegmentsAreTakenAndTooManyChunksAreRefused) {
  auto& requester = connect();
  take_payloads(1);
  const auto data = pattern(16 * 3, 2);
  auto& memory = expose(requester, data);
  rdma::Header header = message_header(kReadChunksXid);
  for (std::uint32_t i = 0; i < 16; ++i) {
    header.chunks.add_read(arguments_at() + 4, memory.part(i * 3, 3));
  }
  EXPECT_TRUE(
      exchange(requester, assemble(header, rpc_call(kReadChunksXid, words({48, 77})))).results());
  EXPECT_EQ(taken.at(0), data);

  rdma::Header many = message_header(kReadChunksXid);
  for (std::uint32_t i = 0; i < 6; ++i) {
    many.chunks.add_read(arguments_at() + 4 + i * 8, memory.part(0, 4));
  }
  expect_error(requester, assemble(many, rpc_call(kReadChunksXid, words({4, 77}))),
               rdma::ERR_CHUNK);
}

// V1-3.4.3-1, V1-4.4.3-1: empty segments in a chunk add nothing.
TEST_F(ReadChunkTest, EmptySegmentsAddNothing) {
  auto& requester = connect();
  take_payloads(1);
  const auto data = pattern(8);
  auto& memory = expose(requester, data);
  rdma::Header header = message_header(kReadChunksXid);
  header.chunks.add_read(arguments_at() + 4, memory.part(0, 0));
  header.chunks.add_read(arguments_at() + 4, memory.part(0, 8));
  header.chunks.add_read(arguments_at() + 4, memory.part(8, 0));
  EXPECT_TRUE(
      exchange(requester, assemble(header, rpc_call(kReadChunksXid, words({8, 77})))).results());
  EXPECT_EQ(taken.at(0), data);
}

// V1-3.3.1-12: more Reads than the connection's depth wait their turn, and all calls are answered.
TEST_F(ReadChunkTest, MoreReadsThanTheDepthAreQueued) {
  auto& requester = connect();
  take_payloads(1);
  ASSERT_TRUE(exchange(requester, plain_call(kReadChunksXid)).bytes.size() > 0);
  constexpr std::uint32_t kCalls = 16;
  for (std::uint32_t i = 0; i < kCalls; ++i) {
    auto& memory = expose(requester, pattern(16 * 100, i));
    rdma::Header header = message_header(kReadChunksXid + i);
    for (std::uint32_t part = 0; part < 16; ++part) {
      header.chunks.add_read(arguments_at() + 4, memory.part(part * 100, 100));
    }
    requester.send(assemble(header, rpc_call(kReadChunksXid + i, words({1600, 77}))));
  }
  for (std::uint32_t i = 0; i < kCalls; ++i) EXPECT_TRUE(next_reply(requester).results());
  EXPECT_EQ(counters().rdma_read_bytes.value(), kCalls * 1600U);
}

}  // namespace
}  // namespace nfsrdma::responder
