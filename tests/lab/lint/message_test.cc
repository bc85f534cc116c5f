// Hand-made captures of RPC-over-RDMA: breaches that neither our client nor the responder commits.
#include "tests/lab/lint/lint_fixture.h"

namespace nfsrdma::lab::test {
namespace {

constexpr Side C = Side::client;
constexpr Side S = Side::server;
constexpr std::uint32_t kXid = 0x1000;
constexpr std::uint32_t kHandle = 0x500;

class MessageTest : public LintFixture {
 protected:
  void ask(IwarpMaker& wire, std::uint32_t xid = kXid) {
    wire.send(C, null_call(xid, write_chunk(kHandle, 100)));
  }
  rdma::ChunkLists unused() { return write_chunk(kHandle, 0); }
  CaptureMaker file;
};

TEST_F(MessageTest, CreditsOfANewConnection) {
  IwarpMaker wire(file);
  wire.send(C, null_call(kXid));
  wire.send(C, null_call(kXid + 1));
  EXPECT_EQ(first(file), "client: RFC 8166 section 3.3.1 (V1-3.3.1-4, V1-3.3.3-1)");
}

TEST_F(MessageTest, CreditsThatWereGranted) {
  IwarpMaker wire(file);
  wire.send(C, null_call(kXid));
  wire.send(S, null_reply(kXid, {}, 2));
  wire.send(C, null_call(kXid + 1));
  wire.send(C, null_call(kXid + 2));
  EXPECT_EQ(first(file), "") << seen;
  wire.send(C, null_call(kXid + 3));
  EXPECT_EQ(first(file), "client: RFC 8166 section 3.3.1 (V1-3.3.1-4, V1-3.3.3-1)");
}

TEST_F(MessageTest, CreditsThatWereAskedFor) {
  IwarpMaker wire(file);
  wire.send(C, null_call(kXid));
  wire.send(S, null_reply(kXid, {}, 32));
  wire.send(C, null_call(kXid + 1, {}, 1));
  wire.send(C, null_call(kXid + 2, {}, 1));
  EXPECT_EQ(first(file), "client: RFC 8166 section 3.3.1 (V1-3.3.1-4, V1-3.3.3-1)");
}

TEST_F(MessageTest, ACallAsksForCredits) {
  IwarpMaker wire(file);
  wire.send(C, null_call(kXid, {}, 0));
  EXPECT_EQ(first(file), "client: RFC 8166 section 3.3.1 (V1-3.3.1-2)");
}

TEST_F(MessageTest, AnXidThatIsInUse) {
  IwarpMaker wire(file);
  wire.send(C, null_call(kXid));
  wire.send(C, null_call(kXid));
  EXPECT_EQ(first(file), "client: RFC 5531 section 9");
}

TEST_F(MessageTest, InvalidationWithoutTheRBit) {
  for (const bool client : {false, true}) {
    CaptureMaker made;
    IwarpMaker wire(made, {.client_invalidation = client, .server_invalidation = !client});
    ask(wire);
    wire.send(S, null_reply(kXid, unused()), kHandle);
    EXPECT_EQ(first(made), "server: RFC 8797 section 4.1 (E-8797-6, XP-3.2-1)");
  }
}

TEST_F(MessageTest, InvalidationOfAnotherHandle) {
  IwarpMaker wire(file);
  ask(wire);
  wire.send(S, null_reply(kXid, unused()), kHandle + 1);
  EXPECT_EQ(first(file), "server: RFC 8797 section 4.1 (E-8797-5)");
}

TEST_F(MessageTest, InvalidationByACall) {
  IwarpMaker wire(file);
  wire.send(C, null_call(kXid), kHandle);
  EXPECT_EQ(first(file), "client: RFC 8797 section 4.1 (E-8797-5)");
}

TEST_F(MessageTest, LargerThanAnnounced) {
  IwarpMaker wire(file);
  Bytes call = null_call(kXid);
  call.resize(4097);
  wire.send(C, call);
  EXPECT_EQ(first(file), "client: RFC 8166 section 3.3.2 (V1-4.2.4-7, E-8797-3)");
}

TEST_F(MessageTest, DataThatWasNotWritten) {
  IwarpMaker wire(file);
  ask(wire);
  wire.write(S, {kHandle, 0}, Bytes(40));
  wire.send(S, null_reply(kXid, write_chunk(kHandle, 44)));
  EXPECT_EQ(first(file), "server: RFC 8166 section 3.4.6 (V1-3.4.6-5)");
  EXPECT_EQ(seen, "segment 0 of Write chunk 0: 44 bytes, written were 40");
}

TEST_F(MessageTest, AHoleBetweenSegments) {
  IwarpMaker wire(file);
  rdma::ChunkLists two = write_chunk(kHandle, 100);
  two.write_entries[0].add({kHandle + 1, 100, 0});
  wire.send(C, null_call(kXid, two));
  wire.write(S, {kHandle, 0}, Bytes(40));
  wire.write(S, {kHandle + 1, 0}, Bytes(10));
  two.write_entries[0].target[0].length = 40;
  two.write_entries[0].target[1].length = 10;
  wire.send(S, null_reply(kXid, two));
  EXPECT_EQ(first(file), "server: RFC 8166 section 3.4.6 (V1-3.4.6-3)");
}

TEST_F(MessageTest, AReplyChunkComesBack) {
  IwarpMaker wire(file);
  rdma::ChunkLists chunks;
  chunks.has_reply = true;
  chunks.rdma_reply.add({kHandle, 100, 0});
  wire.send(C, null_call(kXid, chunks));
  wire.send(S, null_reply(kXid));
  EXPECT_EQ(first(file), "server: RFC 8166 section 4.3.3 (V1-4.3.3-3)");
}

TEST_F(MessageTest, AnAnswerToNoCall) {
  IwarpMaker wire(file);
  wire.send(C, null_call(kXid));
  wire.send(S, null_reply(kXid + 1));
  EXPECT_EQ(first(file), "server: RFC 5531 section 9 (V1-2.2.2-1)");
}

}  // namespace
}  // namespace nfsrdma::lab::test
