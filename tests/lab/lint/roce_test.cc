// Hand-made captures of RoCEv2.
#include "tests/lab/capture/roce_maker.h"
#include "tests/lab/lint/lint_fixture.h"

namespace nfsrdma::lab::test {
namespace {

constexpr Side C = Side::client;
constexpr Side S = Side::server;
constexpr std::uint32_t kXid = 0x1000;
constexpr std::uint32_t kHandle = 0x500;
constexpr std::uint32_t kLength = 1001;

class RoceTest : public LintFixture {
 protected:
  void fill(RoceMaker& wire, std::uint32_t xid = kXid) {
    wire.send(C, null_call(xid, write_chunk(kHandle, kLength)));
    wire.write(S, {kHandle, 0}, Bytes(kLength));
    wire.send(S, null_reply(xid, write_chunk(kHandle, kLength)), kHandle);
  }
  CaptureMaker file;
};

TEST_F(RoceTest, WhatIsRightIsNotFound) {
  RoceMaker wire(file, true);
  for (std::uint32_t i = 0; i < 4; ++i) fill(wire, kXid + i);
  EXPECT_EQ(first(file), "") << seen;
  EXPECT_EQ(messages(), 8u);
  EXPECT_FALSE(linter->connections()[0]->lossy);
}

TEST_F(RoceTest, TheRBitOfThePrivateData) {
  RoceMaker wire(file, false);
  fill(wire);
  EXPECT_EQ(first(file), "server: RFC 8797 section 4.1 (E-8797-6, XP-3.2-1)");
}

TEST_F(RoceTest, ACallIsReadByPackets) {
  RoceMaker wire(file, true);
  Bytes rpc(600);
  const Bytes message = null_call(kXid);
  std::copy(message.begin() + rdma::kMinHeader, message.end(), rpc.begin());
  rdma::Header header;
  header.rdma_xid = kXid;
  header.rdma_credit = 1;
  header.proc = rdma::RDMA_NOMSG;
  header.chunks = read_chunk(0, kHandle, 600);
  Bytes call(200);
  xdr::Encoder out(call);
  rdma::encode_header(out, header);
  wire.send(C, std::span(call).first(out.size()));
  wire.read(S, {kHandle, 0}, rpc);
  wire.send(S, null_reply(kXid));
  EXPECT_EQ(first(file), "") << seen;
  EXPECT_EQ(messages(), 2u);
}

TEST_F(RoceTest, PacketsThatAreSentAgainCountOnce) {
  RoceMaker wire(file, true);
  wire.send(C, null_call(kXid));
  --wire.psn[0];
  wire.send(C, null_call(kXid));
  wire.send(S, null_reply(kXid));
  EXPECT_EQ(first(file), "") << seen;
  EXPECT_EQ(messages(), 2u);
}

TEST_F(RoceTest, APacketThatIsMissingIsAHole) {
  RoceMaker wire(file, true);
  ++wire.psn[0];
  fill(wire);
  ++wire.psn[0];
  fill(wire, kXid + 1);
  EXPECT_EQ(first(file), "") << seen;
  EXPECT_TRUE(linter->connections()[0]->lossy);
}

TEST_F(RoceTest, WithoutTheConnectionManagerTheFirstSenderIsTheClient) {
  RoceMaker wire(file, true, false);
  fill(wire);
  EXPECT_EQ(first(file), "") << seen;
  EXPECT_EQ(messages(), 2u);
  EXPECT_TRUE(linter->connections()[0]->lossy);
}

TEST_F(RoceTest, BehindTheEndOfASegmentAndTheRefusal) {
  RoceMaker wire(file, true);
  wire.send(C, null_call(kXid, write_chunk(kHandle, kLength)));
  wire.write(S, {kHandle, 0}, Bytes(kLength + 1));
  wire.refuse(C, 2);
  EXPECT_EQ(first(file), "server: RFC 8166 section 4.5.3");
  ASSERT_GE(linter->findings().notes(), 1u);
  EXPECT_EQ(linter->findings().all()[1].seen, "remote access error");
}

}  // namespace
}  // namespace nfsrdma::lab::test
