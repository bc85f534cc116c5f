// How the responder judges transport headers (RFC 8166 sections 4.2 and 4.5).
#include "tests/responder/responder_rig.h"

namespace nfsrdma::responder {
namespace {

constexpr std::uint32_t kHeaderXid = 0x1001;

class HeaderTest : public ResponderRig {
 protected:
  /// The fixed words and three absent lists, with anything in them, before a good RPC call.
  static Bytes call_with(std::uint32_t vers, std::uint32_t proc) {
    Bytes bytes = words({kHeaderXid, vers, 1, proc, 0, 0, 0});
    const auto call = rpc_call(kHeaderXid);
    bytes.insert(bytes.end(), call.begin(), call.end());
    return bytes;
  }
};

// V1-3.5.1-1, V1-3.2-1, V1-3.2-2, V1-2.2.2-1, V1-4.7-3, V1-4.2.1-1, V1-4.3.1-3
TEST_F(HeaderTest, PlainCallIsAnsweredInOneMessageThatStartsWithTheXid) {
  auto& requester = connect();
  const auto reply = exchange(requester, plain_call(kHeaderXid));
  EXPECT_EQ(reply.header.rdma_xid, kHeaderXid);
  EXPECT_EQ(reply.header.rdma_vers, 1U);
  EXPECT_EQ(reply.header.proc, rdma::RDMA_MSG);
  EXPECT_TRUE(reply.header.chunks.all_absent());
  EXPECT_EQ(reply.bytes.size(), rdma::kMinHeader + rpc::kAcceptedReplyHeader);
  EXPECT_TRUE(reply.results());
  EXPECT_EQ(service.calls, 1);
}

// V1-4.5-2, F-3
TEST_F(HeaderTest, MessageShorterThan28BytesIsDropped) {
  auto& requester = connect();
  const auto whole = call_with(1, rdma::RDMA_MSG);
  std::size_t sent = 0;
  for (std::size_t length = 4; length < rdma::kMinHeader; length += 1) {
    requester.send(std::span(whole).first(length));
    ++sent;
  }
  expect_silence(requester);
  EXPECT_EQ(counters().dropped_short.value(), sent);
  EXPECT_EQ(service.calls, 0);
}

// V1-4.2.2-1, V1-4.5.1-1, V1-4.5-3, V1-4.5-5, V1-4.2-1, V1-7-2, V1-4.2.4-4, V1-3.3.1-3
TEST_F(HeaderTest, UnknownVersionIsAnsweredWithTheRange) {
  auto& requester = connect();
  for (const std::uint32_t version : {0U, 2U, 7U, 99U}) {
    const auto reply = exchange(requester, call_with(version, rdma::RDMA_MSG));
    EXPECT_EQ(reply.bytes, words({kHeaderXid, version, 1, rdma::RDMA_ERROR, rdma::ERR_VERS, 1, 1}));
  }
  // The version is judged before the proc.
  const auto reply = exchange(requester, call_with(2, 77));
  EXPECT_EQ(reply.header.error.err, rdma::ERR_VERS);
  EXPECT_EQ(service.calls, 0);
}

// V1-4.2.4-1, V1-4.5.2-1, V1-7-1, V1-4.5-5
TEST_F(HeaderTest, UndefinedProcIsAnsweredErrChunk) {
  auto& requester = connect();
  for (const std::uint32_t proc : {5U, 6U, 0xffffffffU}) {
    const auto reply = exchange(requester, call_with(1, proc));
    EXPECT_EQ(reply.bytes, words({kHeaderXid, 1, 1, rdma::RDMA_ERROR, rdma::ERR_CHUNK}));
  }
  EXPECT_EQ(counters().errors_chunk.value(), 3U);
}

// V1-4.6.1-2
TEST_F(HeaderTest, PaddedMessageIsAnsweredErrChunk) {
  auto& requester = connect();
  expect_error(requester, call_with(1, rdma::RDMA_MSGP), rdma::ERR_CHUNK);
}

// V1-4.6.2-2, F-6
TEST_F(HeaderTest, DoneIsDropped) {
  auto& requester = connect();
  requester.send(words({kHeaderXid, 1, 1, rdma::RDMA_DONE}));
  requester.send(call_with(1, rdma::RDMA_DONE));
  expect_silence(requester);
  EXPECT_EQ(counters().dropped_done.value(), 2U);
}

// V1-4.2.4-6, F-2
TEST_F(HeaderTest, ErrorThatAnswersNothingIsDropped) {
  auto& requester = connect();
  requester.send(words({kHeaderXid, 1, 1, rdma::RDMA_ERROR, rdma::ERR_CHUNK}));
  requester.send(words({kHeaderXid, 1, 1, rdma::RDMA_ERROR, rdma::ERR_VERS, 1, 1}));
  requester.send(words({kHeaderXid, 9, 1, rdma::RDMA_ERROR, rdma::ERR_VERS, 1, 1}));
  requester.send(words({kHeaderXid, 1, 1, rdma::RDMA_ERROR, 9, 0, 0}));
  expect_silence(requester);
  EXPECT_EQ(counters().dropped_error.value(), 4U);
}

// V1-2.2.2-1, BD-2
TEST_F(HeaderTest, ReplyThatAnswersNothingIsDropped) {
  auto& requester = connect();
  requester.send(assemble(message_header(kHeaderXid), words({kHeaderXid, 1, 0, 0, 0, 0})));
  expect_silence(requester);
  EXPECT_EQ(counters().dropped_reply.value(), 1U);
}

// V1-4.5.2-1, F-8
TEST_F(HeaderTest, XidThatDiffersFromTheMessagesIsAnsweredErrChunk) {
  auto& requester = connect();
  expect_error(requester, assemble(message_header(kHeaderXid), rpc_call(kHeaderXid + 1)),
               rdma::ERR_CHUNK);
  EXPECT_EQ(service.calls, 0);
}

// V1-4.5.2-1, V1-4.2.4-3
TEST_F(HeaderTest, LongCallWithoutItsChunkIsAnsweredErrChunk) {
  auto& requester = connect();
  expect_error(requester, call_with(1, rdma::RDMA_NOMSG), rdma::ERR_CHUNK);

  auto& memory = requester.expose(64, fabric::Access::remote_write);
  rdma::Header header = message_header(kHeaderXid);
  header.proc = rdma::RDMA_NOMSG;
  header.chunks.add_write()->add(memory.segment());
  expect_error(requester, assemble(header), rdma::ERR_CHUNK);
}

// V1-4.5.2-1
TEST_F(HeaderTest, MessageWithoutAnRpcHeaderIsAnsweredErrChunk) {
  auto& requester = connect();
  expect_error(requester, words({kHeaderXid, 1, 1, rdma::RDMA_MSG, 0, 0, 0}), rdma::ERR_CHUNK);
  expect_error(requester, words({kHeaderXid, 1, 1, rdma::RDMA_MSG, 0, 0, 0, kHeaderXid}),
               rdma::ERR_CHUNK);
}

// V1-4.5.2-1, V1-4.5-1: lists cut off at every word, and presence words that are no boolean.
TEST_F(HeaderTest, TruncatedListsAreAnsweredErrChunk) {
  auto& requester = connect();
  const auto lists = words({kHeaderXid, 1, 1, rdma::RDMA_MSG,  //
                            1,          4, 7, 8,
                            0,          0, 0,  // one read segment
                            1,          1, 7, 8,
                            0,          0, 0,  // one Write chunk
                            1,          1, 7, 8,
                            0,          0});  // Reply chunk
  for (std::size_t size = rdma::kMinHeader; size < lists.size(); size += xdr::kUnit) {
    expect_error(requester, std::span(lists).first(size), rdma::ERR_CHUNK);
  }
  expect_error(requester, words({kHeaderXid, 1, 1, rdma::RDMA_MSG, 2, 0, 0}), rdma::ERR_CHUNK);
  expect_error(requester, words({kHeaderXid, 1, 1, rdma::RDMA_MSG, 0, 2, 0}), rdma::ERR_CHUNK);
  expect_error(requester, words({kHeaderXid, 1, 1, rdma::RDMA_MSG, 0, 0, 2}), rdma::ERR_CHUNK);
  EXPECT_EQ(service.calls, 0);
}

// V1-4.3-1, V1-4.2.4-2, V1-4.7-1, V1-4.7-2, V1-4.1-1, V1-4-1
TEST_F(HeaderTest, AllCombinationsOfListsAreAccepted) {
  auto& requester = connect();
  const auto data = pattern(8);
  service.on_call = [&](ServerCall& call) {
    const auto payload = call.arguments().payload(64, "data");
    EXPECT_EQ(Bytes(payload.data.begin(), payload.data.end()), data);
    call.reply(rpc::AcceptStat::success);
  };
  for (unsigned lists = 0; lists < 8; ++lists) {
    rdma::Header header = message_header(kHeaderXid + lists);
    Bytes call = rpc_call(kHeaderXid + lists, words({8}));
    if (lists & 1) {
      auto& memory = requester.expose(data.size(), fabric::Access::remote_read);
      std::copy(data.begin(), data.end(), memory.memory().begin());
      header.chunks.add_read(static_cast<std::uint32_t>(call.size()), memory.segment());
    } else {
      call.insert(call.end(), data.begin(), data.end());
    }
    auto& sink = requester.expose(64, fabric::Access::remote_write);
    if (lists & 2) header.chunks.add_write()->add(sink.part(0, 32));
    header.chunks.has_reply = (lists & 4) != 0;
    if (lists & 4) header.chunks.rdma_reply.add(sink.part(32, 32));
    const auto reply = exchange(requester, assemble(header, call));
    EXPECT_TRUE(reply.results()) << lists;
    EXPECT_EQ(reply.header.chunks.write_count, (lists & 2) ? 1U : 0U);
    EXPECT_EQ(reply.header.chunks.has_reply, (lists & 4) != 0);
  }
  EXPECT_EQ(service.calls, 8);
}

// V1-4-2: kinds of message in any order on one connection.
TEST_F(HeaderTest, GoodCallsAreAnsweredBetweenBadOnes) {
  auto& requester = connect();
  for (std::uint32_t i = 0; i < 20; ++i) {
    expect_error(requester, call_with(1, 5 + i), rdma::ERR_CHUNK);
    EXPECT_TRUE(exchange(requester, plain_call(kHeaderXid + i)).results());
  }
  EXPECT_EQ(service.calls, 20);
}

}  // namespace
}  // namespace nfsrdma::responder
