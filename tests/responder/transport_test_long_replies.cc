// Reply chunks and Long Replies (RFC 8166 sections 3.5.3 and 4.3.3).
#include "tests/responder/reply_fixture.h"

namespace nfsrdma::responder {
namespace {

constexpr std::uint32_t kLongRepliesXid = 0x3001;

// V1-4.3.3-2, V1-4.3.3-3: what fits goes inline, and the Reply chunk comes back unused.
TEST_F(ReplyTest, ReplyChunkThatIsNotNeededComesBackUnused) {
  auto& requester = connect();
  answer_with({pattern(5)});
  auto& memory = sink(requester, 4096);
  rdma::Header header = message_header(kLongRepliesXid);
  header.chunks.has_reply = true;
  header.chunks.rdma_reply.add(memory.part(0, 2048));
  header.chunks.rdma_reply.add(memory.part(2048, 2048));
  const auto reply = exchange(requester, assemble(header, rpc_call(kLongRepliesXid)));
  EXPECT_EQ(reply.header.proc, rdma::RDMA_MSG);
  ASSERT_TRUE(reply.header.chunks.has_reply);
  EXPECT_EQ(reply.header.chunks.rdma_reply.count, 2U);
  EXPECT_EQ(reply.header.chunks.rdma_reply.length(), 0U);
  EXPECT_EQ(copy(memory.memory()), Bytes(4096, kSentinel));
}

// V1-3.5.3-3, V1-3.5.3-6, V1-4.3.2-12, V1-4.3.3-4, V1-4.3.3-3
TEST_F(ReplyTest, LongReplyGoesIntoTheReplyChunk) {
  auto& requester = connect();
  const auto data = pattern(9001);
  answer_with({data});
  auto& memory = sink(requester, 16384);
  rdma::Header header = message_header(kLongRepliesXid);
  header.chunks.has_reply = true;
  header.chunks.rdma_reply.add(memory.part(0, 1000));
  header.chunks.rdma_reply.add(memory.part(1000, 3));
  header.chunks.rdma_reply.add(memory.part(1003, 15000));
  const auto reply = exchange(requester, assemble(header, rpc_call(kLongRepliesXid)));
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
  rdma::Header header = message_header(kLongRepliesXid);
  header.chunks.add_write()->add(sink_memory.segment());
  header.chunks.has_reply = true;
  header.chunks.rdma_reply.add(reply_memory.segment());
  const auto reply = exchange(requester, assemble(header, rpc_call(kLongRepliesXid)));
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
  expect_error(requester, plain_call(kLongRepliesXid), rdma::ERR_CHUNK);
  auto& memory = sink(requester, 4096);
  rdma::Header header = message_header(kLongRepliesXid);
  header.chunks.has_reply = true;
  header.chunks.rdma_reply.add(memory.part(0, 64));
  expect_error(requester, assemble(header, rpc_call(kLongRepliesXid)), rdma::ERR_CHUNK);
  EXPECT_EQ(copy(memory.memory()), Bytes(4096, kSentinel));
  EXPECT_TRUE(requester.up());
}

}  // namespace
}  // namespace nfsrdma::responder
