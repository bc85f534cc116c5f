// Results in Write chunks (RFC 8166 sections 3.4.6 and 4.3.2, RFC 8267 section 6.4.1).
#include "tests/responder/reply_fixture.h"

namespace nfsrdma::responder {
namespace {

constexpr std::uint32_t kWriteChunksXid = 0x3001;

// V1-3.4.6-3, V1-3.4.6-4, V1-3.4.6-5, V1-3.4.6-9, V1-3.4.4-3, V1-3.4.6-10, V1-4.3.2-2, V1-3.4.3-2,
// V1-2.3.2-4
TEST_F(ReplyTest, ResultFillsTheSegmentsInOrder) {
  auto& requester = connect();
  const auto data = pattern(6);
  answer_with({data});
  auto& memory = sink(requester, 64);
  rdma::Header header = message_header(kWriteChunksXid);
  auto* chunk = header.chunks.add_write();
  chunk->add(memory.part(20, 4));
  chunk->add(memory.part(0, 4));
  chunk->add(memory.part(40, 4));
  const auto reply = exchange(requester, assemble(header, rpc_call(kWriteChunksXid)));
  ASSERT_EQ(reply.header.chunks.write_count, 1U);
  const auto segments = reply.header.chunks.rdma_writes()[0].segments();
  ASSERT_EQ(segments.size(), 3U);
  EXPECT_EQ(segments[0].length, 4U);
  EXPECT_EQ(segments[1].length, 2U);
  EXPECT_EQ(segments[2].length, 0U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(segments[i].handle, chunk->segments()[i].handle);
    EXPECT_EQ(segments[i].offset, chunk->segments()[i].offset);
  }
  Bytes expected(64, kSentinel);  // no pad, although there is room (V1-3.4.6-9)
  std::copy_n(data.begin(), 4, expected.begin() + 20);
  std::copy_n(data.begin() + 4, 2, expected.begin());
  EXPECT_EQ(copy(memory.memory()), expected);
  EXPECT_EQ(reply.message.size(), rpc::kAcceptedReplyHeader + 3 * xdr::kUnit);
  auto results = reply.results();
  ASSERT_TRUE(results);
  EXPECT_EQ(results->u32("word"), 100U);
  EXPECT_EQ(results->u32("count"), 6U);
  EXPECT_EQ(results->u32("last"), kLastWord);
  EXPECT_EQ(counters().rdma_write_bytes.value(), 6U);
}

// A proxy that asked its server for more would have to offer a Reply chunk as well.
TEST_F(ReplyTest, AnInlineReplyLeavesRoomForTheWriteList) {
  auto& requester = connect();
  std::vector<std::size_t> most;
  service.on_call = [&](ServerCall& call) {
    most.push_back(call.max_reply());
    call.reply(rpc::AcceptStat::success);
  };
  auto& memory = sink(requester, 64);
  rdma::Header header = message_header(kWriteChunksXid);
  exchange(requester, assemble(header, rpc_call(kWriteChunksXid)));
  auto* chunk = header.chunks.add_write();
  chunk->add(memory.part(0, 32));
  chunk->add(memory.part(32, 32));
  const auto reply = exchange(requester, assemble(header, rpc_call(kWriteChunksXid)));
  ASSERT_EQ(most.size(), 2U);
  EXPECT_EQ(most[0] - most[1],
            rdma::encoded_size(reply.header.chunks) - rdma::encoded_size(rdma::ChunkLists()));
}

// V1-4.3.2-10, V1-3.4.6-8: without a Write list all is inline, with its pad.
TEST_F(ReplyTest, ResultIsInlineWithoutAWriteList) {
  auto& requester = connect();
  const auto data = pattern(5);
  answer_with({data, {}, data});
  const auto reply = exchange(requester, plain_call(kWriteChunksXid));
  auto results = reply.results();
  ASSERT_TRUE(results);
  EXPECT_EQ(results->u32("word"), 100U);
  EXPECT_EQ(copy(results->opaque(64, "item")), data);
  EXPECT_EQ(results->u32("word"), 101U);
  EXPECT_TRUE(results->opaque(64, "item").empty());
  EXPECT_EQ(results->u32("word"), 102U);
  EXPECT_EQ(copy(results->opaque(64, "item")), data);
  EXPECT_EQ(results->u32("last"), kLastWord);
  EXPECT_TRUE(results->finish("results"));
}

// V1-4.3.2-4, V1-4.3.2-7, V1-4.3.2-13, V1-3.4.6-6, B4-4.4.6-1, F-5: two results, three chunks.
TEST_F(ReplyTest, ChunkLeftOverComesBackUnused) {
  auto& requester = connect();
  answer_with({pattern(7, 1), pattern(9, 2)});
  auto& memory = sink(requester, 96);
  rdma::Header header = message_header(kWriteChunksXid);
  for (std::uint32_t i = 0; i < 3; ++i) {
    auto* chunk = header.chunks.add_write();
    chunk->add(memory.part(i * 32, 8));
    chunk->add(memory.part(i * 32 + 8, 8));
  }
  const auto reply = exchange(requester, assemble(header, rpc_call(kWriteChunksXid)));
  const auto chunks = reply.header.chunks.rdma_writes();
  ASSERT_EQ(chunks.size(), 3U);
  EXPECT_EQ(chunks[0].length(), 7U);
  EXPECT_EQ(chunks[1].length(), 9U);
  EXPECT_EQ(chunks[2].count, 2U);
  EXPECT_EQ(chunks[2].length(), 0U);
  EXPECT_EQ(copy(memory.memory().subspan(0, 7)), pattern(7, 1));
  EXPECT_EQ(copy(memory.memory().subspan(32, 9)), pattern(9, 2));
  EXPECT_EQ(copy(memory.memory().subspan(64)), Bytes(32, kSentinel));
}

// V1-4.3.2-11, E-8267-8: chunks A, empty, C: the middle result is inline, the empty chunk stays.
TEST_F(ReplyTest, EmptyChunkKeepsItsResultInline) {
  auto& requester = connect();
  answer_with({pattern(5, 1), pattern(6, 2), pattern(7, 3)});
  auto& memory = sink(requester, 64);
  rdma::Header header = message_header(kWriteChunksXid);
  header.chunks.add_write()->add(memory.part(0, 16));
  header.chunks.add_write();
  header.chunks.add_write()->add(memory.part(32, 16));
  const auto reply = exchange(requester, assemble(header, rpc_call(kWriteChunksXid)));
  const auto chunks = reply.header.chunks.rdma_writes();
  ASSERT_EQ(chunks.size(), 3U);
  EXPECT_EQ(chunks[0].length(), 5U);
  EXPECT_EQ(chunks[1].count, 0U);
  EXPECT_EQ(chunks[2].length(), 7U);
  auto results = reply.results();
  ASSERT_TRUE(results);
  results->u32("word");
  EXPECT_EQ(results->u32("count"), 5U);
  results->u32("word");
  EXPECT_EQ(copy(results->opaque(64, "item")), pattern(6, 2));
  results->u32("word");
  EXPECT_EQ(results->u32("count"), 7U);
  EXPECT_EQ(results->u32("last"), kLastWord);
  EXPECT_EQ(copy(memory.memory().subspan(32, 7)), pattern(7, 3));
}

// E-8267-8, F-4: a result of no bytes uses up its chunk.
TEST_F(ReplyTest, ResultWithoutBytesUsesUpItsChunk) {
  auto& requester = connect();
  answer_with({{}, pattern(6, 2)});
  auto& memory = sink(requester, 64);
  rdma::Header header = message_header(kWriteChunksXid);
  header.chunks.add_write()->add(memory.part(0, 16));
  header.chunks.add_write()->add(memory.part(32, 16));
  const auto reply = exchange(requester, assemble(header, rpc_call(kWriteChunksXid)));
  const auto chunks = reply.header.chunks.rdma_writes();
  ASSERT_EQ(chunks.size(), 2U);
  EXPECT_EQ(chunks[0].length(), 0U);
  EXPECT_EQ(chunks[1].length(), 6U);
  EXPECT_EQ(copy(memory.memory().subspan(32, 6)), pattern(6, 2));
}

// E-8267-8: results beyond the last chunk are inline. V1-4.3.2-4.
TEST_F(ReplyTest, ResultsBeyondTheLastChunkAreInline) {
  auto& requester = connect();
  answer_with({pattern(5, 1), pattern(6, 2)});
  auto& memory = sink(requester, 16);
  rdma::Header header = message_header(kWriteChunksXid);
  header.chunks.add_write()->add(memory.segment());
  const auto reply = exchange(requester, assemble(header, rpc_call(kWriteChunksXid)));
  EXPECT_EQ(reply.header.chunks.rdma_writes()[0].length(), 5U);
  auto results = reply.results();
  ASSERT_TRUE(results);
  results->u32("word");
  results->u32("count");
  results->u32("word");
  EXPECT_EQ(copy(results->opaque(64, "item")), pattern(6, 2));
}

// V1-4.3.2-7, E-8267-9, F-5: no eligible result at all, for instance an operation that failed.
TEST_F(ReplyTest, ChunkOfAFailedOperationComesBackUnused) {
  auto& requester = connect();
  auto& memory = sink(requester, 16);
  rdma::Header header = message_header(kWriteChunksXid);
  header.chunks.add_write()->add(memory.segment());
  const auto reply = exchange(requester, assemble(header, rpc_call(kWriteChunksXid)));
  ASSERT_EQ(reply.header.chunks.write_count, 1U);
  EXPECT_EQ(reply.header.chunks.rdma_writes()[0].count, 1U);
  EXPECT_EQ(reply.header.chunks.rdma_writes()[0].length(), 0U);
  EXPECT_EQ(copy(memory.memory()), Bytes(16, kSentinel));
}

// V1-4.5.3-3 (in its Write chunk form): never a write past the end, the connection stays.
TEST_F(ReplyTest, WriteChunkThatIsTooSmallIsAnsweredErrChunk) {
  auto& requester = connect();
  answer_with({pattern(17)});
  auto& memory = sink(requester, 64);
  rdma::Header header = message_header(kWriteChunksXid);
  header.chunks.add_write()->add(memory.part(0, 16));
  expect_error(requester, assemble(header, rpc_call(kWriteChunksXid)), rdma::ERR_CHUNK);
  EXPECT_EQ(copy(memory.memory()), Bytes(64, kSentinel));
  EXPECT_TRUE(requester.up());
}

// V1-4.4.3-1: offsets are the requester's business; the responder only adds to them.
TEST_F(ReplyTest, LargestResultIsWrittenWholeAcrossSegments) {
  auto& requester = connect();
  const auto data = pattern(1 << 20, 7);
  answer_with({data});
  auto& memory = sink(requester, (1 << 20) + 64);
  rdma::Header header = message_header(kWriteChunksXid);
  auto* chunk = header.chunks.add_write();
  constexpr std::uint32_t kFirst = 400'001;
  chunk->add(memory.part(0, kFirst));
  chunk->add(memory.part(kFirst, (1 << 20) + 64 - kFirst));
  const auto reply = exchange(requester, assemble(header, rpc_call(kWriteChunksXid)));
  EXPECT_EQ(reply.header.chunks.rdma_writes()[0].length(), data.size());
  EXPECT_EQ(copy(memory.memory().first(data.size())), data);
  EXPECT_EQ(copy(memory.memory().subspan(data.size())), Bytes(64, kSentinel));
}

}  // namespace
}  // namespace nfsrdma::responder
