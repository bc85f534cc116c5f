// Hand-made captures of iWARP: what is right is not found, and each breach is, as that of its side.
#include <pcap/dlt.h>

#include "tests/lab/lint/lint_fixture.h"

namespace nfsrdma::lab::test {
namespace {

constexpr Side C = Side::client;
constexpr Side S = Side::server;
constexpr std::uint32_t kXid = 0x1000;
constexpr std::uint32_t kHandle = 0x500;
constexpr std::uint32_t kLength = 1000;
constexpr std::uint64_t kOffset = 0x10000;

class WireTest : public LintFixture {
 protected:
  /// A call with a Write chunk, which is filled, and its answer.
  void fill(IwarpMaker& wire, std::uint32_t xid = kXid) {
    wire.send(C, null_call(xid, write_chunk(kHandle, kLength, kOffset)));
    wire.write(S, {kHandle, kOffset}, data);
    wire.send(S, null_reply(xid, write_chunk(kHandle, kLength, kOffset)), kHandle);
  }
  /// A call with a Write chunk that is not used, up to its answer.
  void offer(IwarpMaker& wire) {
    wire.send(C, null_call(kXid, write_chunk(kHandle, kLength, kOffset)));
  }

  Bytes data = Bytes(kLength);
  CaptureMaker file;
};

TEST_F(WireTest, WhatIsRightIsNotFound) {
  IwarpMaker wire(file);
  fill(wire);
  fill(wire, kXid + 1);
  wire.tcp.close();
  EXPECT_EQ(first(file), "") << seen;
  EXPECT_EQ(messages(), 4u);
}

TEST_F(WireTest, EveryFormOfFileAndLinkIsRead) {
  for (const int link : {DLT_EN10MB, DLT_LINUX_SLL, DLT_LINUX_SLL2, DLT_RAW, DLT_NULL}) {
    for (const int form : {0, 1, 2, 3, 4, 5, 6, 7}) {
      CaptureMaker made({link, (form & 1) != 0, (form & 2) != 0, (form & 4) != 0});
      IwarpMaker wire(made);
      fill(wire);
      EXPECT_EQ(first(made), "") << link << " " << form << " " << seen;
      ASSERT_EQ(linter->connections().size(), 1u) << link << " " << form;
      EXPECT_EQ(messages(), 2u) << link << " " << form;
      EXPECT_EQ(linter->connections()[0]->info.since.ns % 1000000000, 1000);
    }
  }
}

TEST_F(WireTest, MarkersAreTakenOut) {
  IwarpMaker wire(file, {.markers = true});
  for (std::uint32_t i = 0; i < 20; ++i) fill(wire, kXid + i);
  EXPECT_EQ(first(file), "") << seen;
  EXPECT_EQ(messages(), 40u);
}

TEST_F(WireTest, WrongCrc) {
  IwarpMaker wire(file);
  wire.wrong_crc = true;
  wire.send(C, null_call(kXid));
  EXPECT_EQ(first(file), "client: RFC 5044 section 4.4");
}

// What siw and adapters have got wrong: one FPDU among good ones, told by its frame, and the next
// are read.
TEST_F(WireTest, AWrongCrcIsFoundByItsFrame) {
  IwarpMaker wire(file);
  fill(wire);
  wire.send(C, null_call(kXid + 1, write_chunk(kHandle, kLength, kOffset)));
  wire.wrong_crc = true;
  wire.write(S, {kHandle, kOffset}, data);
  const std::size_t frame = file.frames();
  wire.send(S, null_reply(kXid + 1, write_chunk(kHandle, kLength, kOffset)), kHandle);
  fill(wire, kXid + 2);
  EXPECT_EQ(first(file), "server: RFC 5044 section 4.4");
  EXPECT_EQ(seen, "RDMA Write with 1000 bytes");
  EXPECT_EQ(linter->findings().all().front().source.at.frame, frame);
  EXPECT_EQ(linter->findings().broken(), 1u);
  EXPECT_EQ(messages(), 6u);
}

TEST_F(WireTest, CrcsThatNobodyAskedForAreNotChecked) {
  IwarpMaker wire(file, {.crc = false});
  wire.wrong_crc = true;
  fill(wire);
  EXPECT_EQ(first(file), "") << seen;
}

TEST_F(WireTest, MessageNumbersInOrder) {
  IwarpMaker wire(file);
  wire.msn[0][0] = 2;
  wire.send(C, null_call(kXid));
  EXPECT_EQ(first(file), "client: RFC 5041 section 5.3");
  EXPECT_EQ(seen, "MSN 2 on queue 0, where 1 comes next");
}

TEST_F(WireTest, TheResponderDoesNotSendFirst) {
  IwarpMaker wire(file);
  wire.write(S, {kHandle, 0}, {});
  EXPECT_EQ(first(file), "server: RFC 5044 section 7.1.2");
}

TEST_F(WireTest, NothingFollowsATerminate) {
  IwarpMaker wire(file);
  wire.send(C, null_call(kXid));
  wire.terminate(C);
  EXPECT_EQ(first(file), "");
  EXPECT_EQ(linter->findings().notes(), 2u);  // the Terminate, and the call without an answer
  wire.send(C, null_call(kXid + 1));
  EXPECT_EQ(first(file), "client: RFC 5040 section 4.8");
}

TEST_F(WireTest, MemoryThatNobodyHasOffered) {
  IwarpMaker wire(file);
  offer(wire);
  wire.write(S, {kHandle + 1, kOffset}, data);
  EXPECT_EQ(first(file), "server: RFC 8166 section 3.4.3");
}

TEST_F(WireTest, MemoryOfAnAnsweredCall) {
  IwarpMaker wire(file);
  fill(wire);
  wire.write(S, {kHandle, kOffset}, data);
  EXPECT_EQ(first(file), "server: RFC 8166 section 4.4.1");
}

TEST_F(WireTest, BehindTheEndOfASegment) {
  IwarpMaker wire(file);
  offer(wire);
  wire.write(S, {kHandle, kOffset + 1}, data);
  EXPECT_EQ(first(file), "server: RFC 8166 section 4.5.3");
}

TEST_F(WireTest, OffsetsDoNotWrap) {
  IwarpMaker wire(file);
  offer(wire);
  wire.write(S, {kHandle, UINT64_MAX - 4}, data);
  EXPECT_EQ(first(file), "server: RFC 8166 section 4.5.3");
}

TEST_F(WireTest, AWriteChunkIsNotRead) {
  IwarpMaker wire(file);
  offer(wire);
  wire.read_request(S, {7, 0, kLength, kHandle, kOffset});
  EXPECT_EQ(first(file), "server: RFC 8166 section 3.4");
}

TEST_F(WireTest, AResponseThatNobodyAskedFor) {
  IwarpMaker wire(file);
  wire.send(C, null_call(kXid));
  wire.read_response(C, {7, 0}, data);
  EXPECT_EQ(first(file), "client: RFC 5040 section 5.2");
}

TEST_F(WireTest, TheClientReachesIntoTheServer) {
  IwarpMaker wire(file);
  wire.write(C, {9, 0}, data);
  EXPECT_EQ(first(file), "client: RFC 8166 section 3.4.3");
}

TEST_F(WireTest, AWholeCallIsReadByPieces) {
  IwarpMaker wire(file);
  const Bytes message = null_call(kXid);
  const auto rpc = std::span(message).subspan(rdma::kMinHeader);
  rdma::Header header;
  header.rdma_xid = kXid;
  header.rdma_credit = 1;
  header.proc = rdma::RDMA_NOMSG;
  header.chunks = read_chunk(0, kHandle, static_cast<std::uint32_t>(rpc.size()));
  Bytes call(200);
  xdr::Encoder out(call);
  rdma::encode_header(out, header);
  wire.send(C, std::span(call).first(out.size()));
  wire.read_request(S, {7, 0, static_cast<std::uint32_t>(rpc.size()), kHandle, 0});
  wire.read_response(C, {7, 0}, rpc.first(20));
  wire.read_response(C, {7, 20}, rpc.subspan(20));
  wire.send(S, null_reply(kXid));
  EXPECT_EQ(first(file), "") << seen;
  EXPECT_EQ(messages(), 2u);
}

// A hole in the capture is no breach of anybody, and what comes behind it is found again.
TEST_F(WireTest, HolesAreNoFindings) {
  IwarpMaker wire(file);
  fill(wire);
  wire.lost = true;
  wire.send(C, null_call(kXid + 1, write_chunk(kHandle, kLength, kOffset)));
  for (std::uint32_t i = 0; i < 200; ++i) fill(wire, kXid + 2 + i);
  EXPECT_EQ(first(file), "") << seen;
  EXPECT_TRUE(linter->connections()[0]->lossy);
  EXPECT_GT(messages(), 300u);
}

}  // namespace
}  // namespace nfsrdma::lab::test
