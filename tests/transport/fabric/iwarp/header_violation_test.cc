// DDP and RDMAP headers a peer must not send.
#include "tests/transport/fabric/iwarp/violation_fixture.h"

namespace nfsrdma::fabric::testing {
namespace {

using wire::Segment;

TEST_F(ViolationTest, DdpVersionOfATaggedSegment) {
  open_and_write([](Segment& segment) { segment.ddp_version = 2; });
  expect_untouched(0x1104, Fault::protocol, "DDP version 2");
  EXPECT_EQ(server().counter("ddp_errors"), 1u);
}

TEST_F(ViolationTest, DdpVersionOfAnUntaggedSegment) {
  open_and_send([](Segment& segment) { segment.ddp_version = 0; });
  expect_untouched(0x1206, Fault::protocol, "DDP version 0");
}

TEST_F(ViolationTest, QueueNumberThatDoesNotExist) {
  open_and_send([](Segment& segment) { segment.qn = 3; });
  expect_untouched(0x1201, Fault::protocol, "queue number 3");
}

TEST_F(ViolationTest, SequenceNumberAhead) {
  open_and_send([](Segment& segment) { ++segment.msn; });
  expect_untouched(0x1203, Fault::protocol, "message 3 on queue 0 where 2 was expected");
}

TEST_F(ViolationTest, SequenceNumberOfThePast) {
  open_and_send([](Segment& segment) { --segment.msn; });
  expect_untouched(0x1203, Fault::protocol, "message 1 on queue 0");
}

TEST_F(ViolationTest, SequenceNumberZero) {
  open_and_send([](Segment& segment) { segment.msn = 0; });
  expect_untouched(0x1203, Fault::protocol, "message 0");
}

TEST_F(ViolationTest, MessageOffsetOfAFirstSegment) {
  open_and_send([](Segment& segment) { segment.mo = 4; });
  expect_untouched(0x1204, Fault::protocol, "message offset 4 where 0 was expected");
  EXPECT_EQ(server().messages.size(), 1u);
}

TEST_F(ViolationTest, MessageOffsetThatLeavesAGap) {
  open_with_leases();
  Segment segment = plain_send();
  segment.last = false;
  send_segment(segment);
  segment.last = true;
  segment.mo = 21;
  send_segment(segment);
  expect_untouched(0x1204, Fault::protocol, "message offset 21 where 20 was expected");
}

// V1-2.3.2-2
TEST_F(ViolationTest, MessageOneByteLargerThanTheReceive) {
  open_and_send([](Segment& segment) { segment.payload = pattern(kReceive + 1); });
  expect_untouched(0x1205, Fault::receive_too_small, "message 2 has at least 1025 bytes");
  EXPECT_EQ(server().counter("receive_errors"), 1u);
}

TEST_F(ViolationTest, MessageLargerThanTheReceiveInSeveralSegments) {
  open_with_leases();
  Segment segment = plain_send();
  segment.payload = pattern(kReceive);
  segment.last = false;
  send_segment(segment);
  segment.mo = kReceive;
  segment.payload = pattern(1);
  segment.last = true;
  send_segment(segment);
  expect_untouched(0x1205, Fault::receive_too_small, "at least 1025 bytes");
}

// V1-2.3.2-3
TEST_F(ViolationTest, MessageWithoutAReceive) {
  open_with_leases();
  server().repost = false;
  for (int i = 0; i < 5; ++i) peer.send(wire::send(next_msn++, bytes_of("x")));
  expect_untouched(0x1202, Fault::receive_too_small, "no receive was posted");
}

TEST_F(ViolationTest, RdmapVersion) {
  open_and_send([](Segment& segment) { segment.rdmap_version = 2; });
  expect_untouched(0x0205, Fault::protocol, "RDMAP version 2");
  EXPECT_EQ(server().counter("rdmap_errors"), 1u);
}

struct OpcodeCase {
  const char* name;
  bool tagged;
  std::uint8_t opcode;
  std::uint32_t qn;
};

class OpcodeTest : public ViolationTest, public ::testing::WithParamInterface<OpcodeCase> {};

TEST_P(OpcodeTest, IsRefused) {
  open_with_leases();
  Segment segment = GetParam().tagged ? plain_write() : plain_send();
  segment.opcode = GetParam().opcode;
  segment.qn = GetParam().qn;
  send_segment(segment);
  expect_untouched(0x0206, Fault::protocol, "");
}

INSTANTIATE_TEST_SUITE_P(
    Opcodes, OpcodeTest,
    ::testing::Values(OpcodeCase{"Unknown8", false, 8, 0}, OpcodeCase{"Unknown15", true, 15, 0},
                      OpcodeCase{"UntaggedWrite", false, wire::kWrite, 0},
                      OpcodeCase{"UntaggedReadResponse", false, wire::kReadResponse, 0},
                      OpcodeCase{"TaggedSend", true, wire::kSend, 0},
                      OpcodeCase{"TaggedReadRequest", true, wire::kReadRequest, 0},
                      OpcodeCase{"TaggedTerminate", true, wire::kTerminate, 0},
                      OpcodeCase{"SendOnTheReadQueue", false, wire::kSend, 1},
                      OpcodeCase{"ReadRequestOnTheSendQueue", false, wire::kReadRequest, 0},
                      OpcodeCase{"TerminateOnTheSendQueue", false, wire::kTerminate, 0},
                      OpcodeCase{"SendOnTheTerminateQueue", false, wire::kSend, 2},
                      OpcodeCase{"UnaskedReadResponse", true, wire::kReadResponse, 0}),
    [](const auto& each) { return std::string(each.param.name); });

TEST_F(ViolationTest, OpcodeThatChangesWithinAMessage) {
  open_with_leases();
  Segment segment = plain_send();
  segment.last = false;
  send_segment(segment);
  segment.mo = 20;
  segment.last = true;
  segment.opcode = wire::kSendSolicited;
  send_segment(segment);
  expect_untouched(0x0206, Fault::protocol, "a Send continues as a Send with Solicited Event");
}

}  // namespace
}  // namespace nfsrdma::fabric::testing
