// Each kind of malformed reply, as it is on the wire.
#include <string>

#include "tests/responder/responder_rig.h"

namespace nfsrdma::responder {
namespace {

constexpr std::uint32_t kMalformedXid = 0x8001;

class MalformedTest : public ResponderRig {
 protected:
  MalformedTest() { start(); }

  void fault(std::string_view spec) {
    auto added = responder->add_fault(spec);
    ASSERT_TRUE(added) << added.error().message();
  }
  /// A call with one Write chunk and a Reply chunk; the service fills the chunk with 13 bytes.
  Bytes call_with_chunks(RawRequester& requester) {
    service.on_call = [](ServerCall& call) {
      call.results().payload(call.scratch(13));
      call.reply(rpc::AcceptStat::success);
    };
    auto& memory = requester.expose(8192, fabric::Access::remote_write, std::byte{0xee});
    rdma::Header header = message_header(kMalformedXid);
    auto* chunk = header.chunks.add_write();
    chunk->add(memory.part(0, 10));
    chunk->add(memory.part(10, 10));
    header.chunks.has_reply = true;
    header.chunks.rdma_reply.add(memory.part(4096, 4096));
    return assemble(header, rpc_call(kMalformedXid));
  }
  ParsedReply spoiled(const std::string& kind) {
    auto& requester = connect();
    fault("malformed=" + kind + ":times=1");
    return exchange(requester, call_with_chunks(requester));
  }
};

TEST_F(MalformedTest, Truncated) { EXPECT_EQ(spoiled("truncated").bytes.size(), 20U); }

TEST_F(MalformedTest, WrongXid) {
  const auto reply = spoiled("wrong-xid");
  EXPECT_EQ(reply.fault, rdma::HeaderFault::none);
  EXPECT_NE(reply.header.rdma_xid, kMalformedXid);
}

TEST_F(MalformedTest, WrongRpcXid) {
  const auto reply = spoiled("wrong-rpc-xid");
  EXPECT_EQ(reply.header.rdma_xid, kMalformedXid);
  EXPECT_FALSE(reply.results());
}

TEST_F(MalformedTest, WrongVersion) {
  EXPECT_EQ(spoiled("wrong-version").fault, rdma::HeaderFault::version);
}

TEST_F(MalformedTest, WrongProc) {
  EXPECT_EQ(spoiled("wrong-proc").fault, rdma::HeaderFault::undefined_proc);
}

TEST_F(MalformedTest, BadChunks) {
  EXPECT_EQ(spoiled("bad-chunks").fault, rdma::HeaderFault::malformed);
}

TEST_F(MalformedTest, ReadList) { EXPECT_EQ(spoiled("read-list").header.chunks.read_count, 1U); }

TEST_F(MalformedTest, MissingChunk) {
  EXPECT_EQ(spoiled("missing-chunk").header.chunks.write_count, 0U);
}

TEST_F(MalformedTest, MissingSegment) {
  EXPECT_EQ(spoiled("missing-segment").header.chunks.rdma_writes()[0].count, 1U);
}

TEST_F(MalformedTest, ChangedHandle) {
  const auto reply = spoiled("changed-handle");
  const auto segments = reply.header.chunks.rdma_writes()[0].segments();
  EXPECT_EQ(segments[0].handle, segments[1].handle + 1);
}

TEST_F(MalformedTest, Lengths) {
  EXPECT_GT(spoiled("long-length").header.chunks.rdma_writes()[0].segments()[0].length, 10U);
  EXPECT_EQ(spoiled("short-length").header.chunks.rdma_writes()[0].length(), 9U);
}

TEST_F(MalformedTest, WritePad) {
  EXPECT_EQ(spoiled("write-pad").header.chunks.rdma_writes()[0].length(), 16U);
}

TEST_F(MalformedTest, InlineResult) {
  const auto reply = spoiled("inline-result");
  EXPECT_EQ(reply.header.chunks.rdma_writes()[0].length(), 0U);
  EXPECT_EQ(reply.message.size(), rpc::kAcceptedReplyHeader + 4 + 16);
}

TEST_F(MalformedTest, RpcAndResults) {
  EXPECT_FALSE(spoiled("rpc").results());
  EXPECT_LT(spoiled("results").message.size(), rpc::kAcceptedReplyHeader);
}

// V1-4.5.3-2: larger than the client's receive: the connection ends.
TEST_F(MalformedTest, Oversize) {
  auto& requester = connect();
  fault("malformed=oversize:times=1");
  requester.send(plain_call(kMalformedXid));
  run_until([&] { return requester.down(); });
}

TEST_F(MalformedTest, ShortReplyChunk) {
  auto& requester = connect();
  fault("malformed=short-reply-chunk");
  const auto call = call_with_chunks(requester);
  service.on_call = [](ServerCall& each) {
    each.results().reserve(4000);
    each.results().u32(0);
    each.reply(rpc::AcceptStat::success);
  };
  const auto reply = exchange(requester, call);
  ASSERT_EQ(reply.header.proc, rdma::RDMA_NOMSG);
  EXPECT_EQ(reply.header.chunks.rdma_reply.length(), rpc::kAcceptedReplyHeader + 4000);
}

}  // namespace
}  // namespace nfsrdma::responder
