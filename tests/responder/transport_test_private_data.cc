// Effects of the connection manager's private data (RFC 8797).
#include "tests/responder/reply_fixture.h"

namespace nfsrdma::responder {
namespace {

constexpr std::uint32_t kPrivateDataXid = 0x3001;

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
    EXPECT_EQ(exchange(requester, plain_call(kPrivateDataXid)).bytes.size(), each.threshold);
    answer_with({pattern(room + 1)});
    expect_error(requester, plain_call(kPrivateDataXid), rdma::ERR_CHUNK);
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

// E-8797-4: larger Calls are taken than Replies are sent.
TEST_F(ReplyTest, PrivateDataSaysThatCallsMayBeLarger) {
  ResponderConfig config;
  config.call_size = 16384;
  start(config);
  auto& requester = connect();
  EXPECT_EQ(requester.server_data().send_size, 4096U);
  EXPECT_EQ(requester.server_data().receive_size, 16384U);
}

// E-8797-5, E-8797-7: with both R bits a handle of the same XID is invalidated, one a reply.
TEST_F(ReplyTest, ReplyInvalidatesAHandleOfItsCall) {
  auto& requester = connect(sizes(4096, 4096, true));
  answer_with({pattern(5)});
  auto& memory = sink(requester, 16);
  auto& reply_memory = sink(requester, 16);
  rdma::Header header = message_header(kPrivateDataXid);
  header.chunks.add_write()->add(memory.segment());
  header.chunks.has_reply = true;
  header.chunks.rdma_reply.add(reply_memory.segment());
  const auto handle = memory.segment().handle;
  const auto reply = exchange(requester, assemble(header, rpc_call(kPrivateDataXid)));
  ASSERT_TRUE(reply.invalidated);
  EXPECT_EQ(*reply.invalidated, handle);
  EXPECT_FALSE(exchange(requester, plain_call(kPrivateDataXid + 1)).invalidated);
}

// E-8797-5: a Reply chunk's handle when there is no other, a Read chunk's when there is one.
TEST_F(ReplyTest, AnyKindOfHandleMayBeInvalidated) {
  auto& requester = connect(sizes(4096, 4096, true));
  auto& reply_memory = sink(requester, 16);
  rdma::Header header = message_header(kPrivateDataXid);
  header.chunks.has_reply = true;
  header.chunks.rdma_reply.add(reply_memory.segment());
  EXPECT_EQ(exchange(requester, assemble(header, rpc_call(kPrivateDataXid))).invalidated,
            reply_memory.segment().handle);

  const auto call = rpc_call(kPrivateDataXid, {}, 0);
  auto& long_call = requester.expose(call.size(), fabric::Access::remote_read);
  std::copy(call.begin(), call.end(), long_call.memory().begin());
  rdma::Header long_header = message_header(kPrivateDataXid);
  long_header.proc = rdma::RDMA_NOMSG;
  long_header.chunks.add_read(0, long_call.segment());
  EXPECT_EQ(exchange(requester, assemble(long_header)).invalidated, long_call.segment().handle);
}

// E-8797-6: either R bit clear: plain Sends.
TEST_F(ReplyTest, NothingIsInvalidatedUnlessBothSidesAllowIt) {
  auto& requester = connect(sizes(4096, 4096, false));
  answer_with({pattern(5)});
  rdma::Header header = message_header(kPrivateDataXid);
  header.chunks.add_write()->add(sink(requester, 16).segment());
  EXPECT_FALSE(exchange(requester, assemble(header, rpc_call(kPrivateDataXid))).invalidated);

  responder.reset();
  requesters.clear();
  ResponderConfig config;
  config.remote_invalidation = false;
  start(config);
  auto& other = connect(sizes(4096, 4096, true));
  rdma::Header second = message_header(kPrivateDataXid);
  second.chunks.add_write()->add(sink(other, 16).segment());
  EXPECT_FALSE(exchange(other, assemble(second, rpc_call(kPrivateDataXid))).invalidated);
}

}  // namespace
}  // namespace nfsrdma::responder
