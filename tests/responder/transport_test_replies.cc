// Replies: Write chunks, Reply chunk, inline (RFC 8166 sections 3.4.6, 3.5, 4.3; RFC 8267 6.4.1).
#include <algorithm>

#include "tests/responder/responder_rig.h"

namespace nfsrdma::responder {
namespace {

constexpr std::uint32_t kXid = 0x3001;
constexpr std::byte kSentinel{0xee};

class ReplyTest : public ResponderRig {
 protected:
  /// The service answers with these items, each behind a word, and a last word.
  void answer_with(std::vector<Octets> items) {
    service.on_call = [items = std::move(items)](ServerCall& call) {
      for (std::size_t i = 0; i < items.size(); ++i) {
        auto memory = call.scratch(items[i].size());
        std::copy(items[i].begin(), items[i].end(), memory.begin());
        call.results().u32(static_cast<std::uint32_t>(100 + i));
        call.results().payload(memory);
      }
      call.results().u32(kLastWord);
      call.reply(rpc::AcceptStat::success);
    };
  }
  static constexpr std::uint32_t kLastWord = 99;

  static Octets copy(std::span<const std::byte> octets) { return {octets.begin(), octets.end()}; }
  Exposed& sink(RawRequester& requester, std::size_t size) {
    return requester.expose(size, fabric::Access::remote_write, kSentinel);
  }
};

// V1-3.4.6-3, V1-3.4.6-4, V1-3.4.6-5, V1-3.4.6-9, V1-3.4.4-3, V1-3.4.6-10, V1-4.3.2-2, V1-3.4.3-2,
// V1-2.3.2-4
TEST_F(ReplyTest, ResultFillsTheSegmentsInOrder) {
  auto& requester = connect();
  const auto data = pattern(6);
  answer_with({data});
  auto& memory = sink(requester, 64);
  rdma::Header header = message_header(kXid);
  auto* chunk = header.chunks.add_write();
  chunk->add(memory.part(20, 4));
  chunk->add(memory.part(0, 4));
  chunk->add(memory.part(40, 4));
  const auto reply = exchange(requester, assemble(header, rpc_call(kXid)));
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
  Octets expected(64, kSentinel);  // no pad, although there is room (V1-3.4.6-9)
  std::copy_n(data.begin(), 4, expected.begin() + 20);
  std::copy_n(data.begin() + 4, 2, expected.begin());
  EXPECT_EQ(copy(memory.memory()), expected);
  EXPECT_EQ(reply.message.size(), rpc::kAcceptedReplyHeader + 3 * xdr::kUnit);
  auto results = reply.results();
  ASSERT_TRUE(results);
  EXPECT_EQ(results->u32("word"), 100U);
  EXPECT_EQ(results->u32("count"), 6U);
  EXPECT_EQ(results->u32("last"), kLastWord);
  EXPECT_EQ(counters().rdma_write_octets.value(), 6U);
}

// V1-4.3.2-10, V1-3.4.6-8: without a Write list all is inline, with its pad.
TEST_F(ReplyTest, ResultIsInlineWithoutAWriteList) {
  auto& requester = connect();
  const auto data = pattern(5);
  answer_with({data, {}, data});
  const auto reply = exchange(requester, plain_call(kXid));
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
  rdma::Header header = message_header(kXid);
  for (std::uint32_t i = 0; i < 3; ++i) {
    auto* chunk = header.chunks.add_write();
    chunk->add(memory.part(i * 32, 8));
    chunk->add(memory.part(i * 32 + 8, 8));
  }
  const auto reply = exchange(requester, assemble(header, rpc_call(kXid)));
  const auto chunks = reply.header.chunks.rdma_writes();
  ASSERT_EQ(chunks.size(), 3U);
  EXPECT_EQ(chunks[0].length(), 7U);
  EXPECT_EQ(chunks[1].length(), 9U);
  EXPECT_EQ(chunks[2].count, 2U);
  EXPECT_EQ(chunks[2].length(), 0U);
  EXPECT_EQ(copy(memory.memory().subspan(0, 7)), pattern(7, 1));
  EXPECT_EQ(copy(memory.memory().subspan(32, 9)), pattern(9, 2));
  EXPECT_EQ(copy(memory.memory().subspan(64)), Octets(32, kSentinel));
}

// V1-4.3.2-11, E-8267-8: chunks A, empty, C: the middle result is inline, the empty chunk stays.
TEST_F(ReplyTest, EmptyChunkKeepsItsResultInline) {
  auto& requester = connect();
  answer_with({pattern(5, 1), pattern(6, 2), pattern(7, 3)});
  auto& memory = sink(requester, 64);
  rdma::Header header = message_header(kXid);
  header.chunks.add_write()->add(memory.part(0, 16));
  header.chunks.add_write();
  header.chunks.add_write()->add(memory.part(32, 16));
  const auto reply = exchange(requester, assemble(header, rpc_call(kXid)));
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

// E-8267-8, F-4: a result of no octets uses up its chunk.
TEST_F(ReplyTest, ResultWithoutOctetsUsesUpItsChunk) {
  auto& requester = connect();
  answer_with({{}, pattern(6, 2)});
  auto& memory = sink(requester, 64);
  rdma::Header header = message_header(kXid);
  header.chunks.add_write()->add(memory.part(0, 16));
  header.chunks.add_write()->add(memory.part(32, 16));
  const auto reply = exchange(requester, assemble(header, rpc_call(kXid)));
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
  rdma::Header header = message_header(kXid);
  header.chunks.add_write()->add(memory.segment());
  const auto reply = exchange(requester, assemble(header, rpc_call(kXid)));
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
  rdma::Header header = message_header(kXid);
  header.chunks.add_write()->add(memory.segment());
  const auto reply = exchange(requester, assemble(header, rpc_call(kXid)));
  ASSERT_EQ(reply.header.chunks.write_count, 1U);
  EXPECT_EQ(reply.header.chunks.rdma_writes()[0].count, 1U);
  EXPECT_EQ(reply.header.chunks.rdma_writes()[0].length(), 0U);
  EXPECT_EQ(copy(memory.memory()), Octets(16, kSentinel));
}

// V1-4.5.3-3 (in its Write chunk form): never a write past the end, the connection stays.
TEST_F(ReplyTest, WriteChunkThatIsTooSmallIsAnsweredErrChunk) {
  auto& requester = connect();
  answer_with({pattern(17)});
  auto& memory = sink(requester, 64);
  rdma::Header header = message_header(kXid);
  header.chunks.add_write()->add(memory.part(0, 16));
  expect_error(requester, assemble(header, rpc_call(kXid)), rdma::ERR_CHUNK);
  EXPECT_EQ(copy(memory.memory()), Octets(64, kSentinel));
  EXPECT_TRUE(requester.up());
}

// V1-4.3.3-2, V1-4.3.3-3: what fits goes inline, and the Reply chunk comes back unused.
TEST_F(ReplyTest, ReplyChunkThatIsNotNeededComesBackUnused) {
  auto& requester = connect();
  answer_with({pattern(5)});
  auto& memory = sink(requester, 4096);
  rdma::Header header = message_header(kXid);
  header.chunks.has_reply = true;
  header.chunks.rdma_reply.add(memory.part(0, 2048));
  header.chunks.rdma_reply.add(memory.part(2048, 2048));
  const auto reply = exchange(requester, assemble(header, rpc_call(kXid)));
  EXPECT_EQ(reply.header.proc, rdma::RDMA_MSG);
  ASSERT_TRUE(reply.header.chunks.has_reply);
  EXPECT_EQ(reply.header.chunks.rdma_reply.count, 2U);
  EXPECT_EQ(reply.header.chunks.rdma_reply.length(), 0U);
  EXPECT_EQ(copy(memory.memory()), Octets(4096, kSentinel));
}

// V1-3.5.3-3, V1-3.5.3-6, V1-4.3.2-12, V1-4.3.3-4, V1-4.3.3-3
TEST_F(ReplyTest, LongReplyGoesIntoTheReplyChunk) {
  auto& requester = connect();
  const auto data = pattern(9001);
  answer_with({data});
  auto& memory = sink(requester, 16384);
  rdma::Header header = message_header(kXid);
  header.chunks.has_reply = true;
  header.chunks.rdma_reply.add(memory.part(0, 1000));
  header.chunks.rdma_reply.add(memory.part(1000, 3));
  header.chunks.rdma_reply.add(memory.part(1003, 15000));
  const auto reply = exchange(requester, assemble(header, rpc_call(kXid)));
  EXPECT_EQ(reply.header.proc, rdma::RDMA_NOMSG);
  EXPECT_TRUE(reply.message.empty());
  const auto size = rpc::kAcceptedReplyHeader + 8 + xdr::padded(9001) + 4;
  EXPECT_EQ(reply.header.chunks.rdma_reply.length(), size);
  EXPECT_EQ(reply.header.chunks.rdma_reply.segments()[0].length, 1000U);
  auto results = reply.results(memory.memory().first(size));
  ASSERT_TRUE(results);
  EXPECT_EQ(results->u32("word"), 100U);
  EXPECT_EQ(copy(results->opaque(16384, "item")), data);
  EXPECT_EQ(results->u32("last"), kLastWord);
  EXPECT_EQ(counters().long_replies.value(), 1U);
}

// V1-3.5.3-5: the eligible result into its Write chunk first, the rest into the Reply chunk.
TEST_F(ReplyTest, LongReplyIsReducedFirst) {
  auto& requester = connect();
  const auto data = pattern(3000, 1);
  const auto attributes = pattern(5000, 2);
  service.on_call = [&](ServerCall& call) {
    auto scratch = call.scratch(data.size());
    std::copy(data.begin(), data.end(), scratch.begin());
    call.results().payload(scratch);
    call.results().opaque(attributes);
    call.reply(rpc::AcceptStat::success);
  };
  auto& sink_memory = sink(requester, 3000);
  auto& reply_memory = sink(requester, 8192);
  rdma::Header header = message_header(kXid);
  header.chunks.add_write()->add(sink_memory.segment());
  header.chunks.has_reply = true;
  header.chunks.rdma_reply.add(reply_memory.segment());
  const auto reply = exchange(requester, assemble(header, rpc_call(kXid)));
  EXPECT_EQ(reply.header.proc, rdma::RDMA_NOMSG);
  EXPECT_EQ(reply.header.chunks.rdma_writes()[0].length(), 3000U);
  EXPECT_EQ(copy(sink_memory.memory()), data);
  auto results =
      reply.results(reply_memory.memory().first(reply.header.chunks.rdma_reply.length()));
  ASSERT_TRUE(results);
  EXPECT_EQ(results->u32("count"), 3000U);
  EXPECT_EQ(copy(results->opaque(8192, "attributes")), attributes);
}

// V1-4.5.3-3, D05-5.2-1: Reply chunk missing or too small: ERR_CHUNK, nothing written.
TEST_F(ReplyTest, ReplyThatFitsNowhereIsAnsweredErrChunk) {
  auto& requester = connect();
  answer_with({pattern(6000)});
  expect_error(requester, plain_call(kXid), rdma::ERR_CHUNK);
  auto& memory = sink(requester, 4096);
  rdma::Header header = message_header(kXid);
  header.chunks.has_reply = true;
  header.chunks.rdma_reply.add(memory.part(0, 64));
  expect_error(requester, assemble(header, rpc_call(kXid)), rdma::ERR_CHUNK);
  EXPECT_EQ(copy(memory.memory()), Octets(4096, kSentinel));
  EXPECT_TRUE(requester.up());
}

// V1-3.3.2-1, V1-3.3.3-3, V1-3.3.3-4, V1-4.2.4-7, E-8797-2, E-8797-3, E-8797-8, F-22: the largest
// inline reply has exactly the size that both ends agreed on; one word more does not fit.
TEST_F(ReplyTest, ReplyThresholdIsTheLesserOfBothSizes) {
  struct Case {
    std::optional<rdma::PrivateData> client;
    std::size_t threshold;
  };
  const Case cases[] = {{std::nullopt, 1024},
                        {sizes(4096, 1024), 1024},
                        {sizes(1024, 2048), 2048},
                        {sizes(1024, 4096), 4096},
                        {sizes(1024, 8192), 4096}};
  for (const auto& each : cases) {
    auto& requester = connect(each.client);
    const auto room = each.threshold - rdma::kMinHeader - rpc::kAcceptedReplyHeader - 12;
    answer_with({pattern(room)});
    EXPECT_EQ(exchange(requester, plain_call(kXid)).octets.size(), each.threshold);
    answer_with({pattern(room + 1)});
    expect_error(requester, plain_call(kXid), rdma::ERR_CHUNK);
  }
}

// E-8797-1, E-8797-4, E-8797-10
TEST_F(ReplyTest, PrivateDataSaysSizesAndInvalidation) {
  ResponderConfig config;
  config.inline_size = 8192;
  start(config);
  auto& requester = connect();
  EXPECT_EQ(requester.server_data().send_size, 8192U);
  EXPECT_EQ(requester.server_data().receive_size, 8192U);
  EXPECT_TRUE(requester.server_data().remote_invalidation);
}

// E-8797-5, E-8797-7: with both R bits a handle of the same XID is invalidated, one a reply.
TEST_F(ReplyTest, ReplyInvalidatesAHandleOfItsCall) {
  auto& requester = connect(sizes(4096, 4096, true));
  answer_with({pattern(5)});
  auto& memory = sink(requester, 16);
  auto& reply_memory = sink(requester, 16);
  rdma::Header header = message_header(kXid);
  header.chunks.add_write()->add(memory.segment());
  header.chunks.has_reply = true;
  header.chunks.rdma_reply.add(reply_memory.segment());
  const auto handle = memory.segment().handle;
  const auto reply = exchange(requester, assemble(header, rpc_call(kXid)));
  ASSERT_TRUE(reply.invalidated);
  EXPECT_EQ(*reply.invalidated, handle);
  EXPECT_FALSE(exchange(requester, plain_call(kXid + 1)).invalidated);
}

// E-8797-5: a Reply chunk's handle when there is no other, a Read chunk's when there is one.
TEST_F(ReplyTest, AnyKindOfHandleMayBeInvalidated) {
  auto& requester = connect(sizes(4096, 4096, true));
  auto& reply_memory = sink(requester, 16);
  rdma::Header header = message_header(kXid);
  header.chunks.has_reply = true;
  header.chunks.rdma_reply.add(reply_memory.segment());
  EXPECT_EQ(exchange(requester, assemble(header, rpc_call(kXid))).invalidated,
            reply_memory.segment().handle);

  const auto call = rpc_call(kXid, {}, 0);
  auto& long_call = requester.expose(call.size(), fabric::Access::remote_read);
  std::copy(call.begin(), call.end(), long_call.memory().begin());
  rdma::Header long_header = message_header(kXid);
  long_header.proc = rdma::RDMA_NOMSG;
  long_header.chunks.add_read(0, long_call.segment());
  EXPECT_EQ(exchange(requester, assemble(long_header)).invalidated, long_call.segment().handle);
}

// E-8797-6: either R bit clear: plain Sends.
TEST_F(ReplyTest, NothingIsInvalidatedUnlessBothSidesAllowIt) {
  auto& requester = connect(sizes(4096, 4096, false));
  answer_with({pattern(5)});
  rdma::Header header = message_header(kXid);
  header.chunks.add_write()->add(sink(requester, 16).segment());
  EXPECT_FALSE(exchange(requester, assemble(header, rpc_call(kXid))).invalidated);

  responder.reset();
  requesters.clear();
  ResponderConfig config;
  config.remote_invalidation = false;
  start(config);
  auto& other = connect(sizes(4096, 4096, true));
  rdma::Header second = message_header(kXid);
  second.chunks.add_write()->add(sink(other, 16).segment());
  EXPECT_FALSE(exchange(other, assemble(second, rpc_call(kXid))).invalidated);
}

// V1-4.4.3-1: offsets are the requester's business; the responder only adds to them.
TEST_F(ReplyTest, LargestResultIsWrittenWholeAcrossSegments) {
  auto& requester = connect();
  const auto data = pattern(1 << 20, 7);
  answer_with({data});
  auto& memory = sink(requester, (1 << 20) + 64);
  rdma::Header header = message_header(kXid);
  auto* chunk = header.chunks.add_write();
  constexpr std::uint32_t kFirst = 400'001;
  chunk->add(memory.part(0, kFirst));
  chunk->add(memory.part(kFirst, (1 << 20) + 64 - kFirst));
  const auto reply = exchange(requester, assemble(header, rpc_call(kXid)));
  EXPECT_EQ(reply.header.chunks.rdma_writes()[0].length(), data.size());
  EXPECT_EQ(copy(memory.memory().first(data.size())), data);
  EXPECT_EQ(copy(memory.memory().subspan(data.size())), Octets(64, kSentinel));
}

}  // namespace
}  // namespace nfsrdma::responder
