// Everything a peer may send that it must not: the answer is a Terminate message with the right
// code, a readable reason, a count, and no octet changed outside leased memory.
#include "tests/iwarp/hostile_fixture.h"

namespace nfsrdma::fabric::testing {
namespace {

using wire::Segment;

class ViolationTest : public HostileTest {
 protected:
  void send_segment(const Segment& segment) { peer.send(wire::fpdu(segment)); }

  Segment plain_send() {
    Segment segment;
    segment.msn = next_msn;
    segment.payload = pattern(20);
    return segment;
  }
  Segment plain_write(std::size_t size = 100) {
    Segment segment;
    segment.tagged = true;
    segment.opcode = wire::kWrite;
    segment.stag = write_lease.segment.handle;
    segment.to = write_lease.segment.offset;
    segment.payload = pattern(size, 9);
    return segment;
  }
  wire::Read plain_read(std::uint32_t size = 100) {
    wire::Read read;
    read.size = size;
    read.source_stag = read_lease.segment.handle;
    read.source_to = read_lease.segment.offset;
    return read;
  }
  void expect_untouched(unsigned code, Fault fault, const std::string& words) {
    expect_terminated(code, fault, words);
    EXPECT_TRUE(writable.untouched());
  }
};

// --- MPA ---

TEST_F(ViolationTest, WrongCrcInTheCrcItself) {
  open_with_leases();
  Bytes frame = wire::write(write_lease.segment.handle, write_lease.segment.offset, pattern(64));
  frame.back() ^= std::byte{1};
  peer.send(frame);
  expect_terminated(0x2002, Fault::protocol, "CRC mismatch in the FPDU at stream octet ");
  EXPECT_EQ(server().counter("crc_errors"), 1u);
  EXPECT_EQ(server().counter("mpa_errors"), 1u);
}

TEST_F(ViolationTest, WrongCrcBecauseThePayloadChanged) {
  open_with_leases();
  Bytes frame = wire::send(next_msn, pattern(64));
  frame[30] ^= std::byte{0x10};
  peer.send(frame);
  expect_terminated(0x2002, Fault::protocol, "CRC mismatch");
  EXPECT_EQ(server().messages.size(), 1u);
}

TEST_F(ViolationTest, CrcOfZeroIsNotTakenForNone) {
  open_with_leases();
  peer.send(wire::fpdu(plain_send(), false));
  expect_terminated(0x2002, Fault::protocol, "CRC mismatch");
}

TEST_F(ViolationTest, TheReasonNamesThePlaceInTheStream) {
  open_with_leases();
  const std::size_t hello = wire::send(1, bytes_of("hello")).size();
  peer.send(wire::fpdu(plain_send(), false));
  expect_terminated(0x2002, Fault::protocol, "stream octet " + std::to_string(hello) + ":");
}

TEST_F(ViolationTest, UlpduShorterThanATaggedHeader) {
  open_with_leases();
  Bytes body = wire::ulpdu(plain_write());
  body.resize(13);
  peer.send(wire::join({wire::fpdu(body), pattern(64)}));
  expect_untouched(0x2003, Fault::protocol, "shorter than its header");
}

TEST_F(ViolationTest, UlpduShorterThanAnUntaggedHeader) {
  open_with_leases();
  Bytes body = wire::ulpdu(plain_send());
  body.resize(17);
  peer.send(wire::join({wire::fpdu(body), pattern(64)}));
  expect_untouched(0x2003, Fault::protocol, "shorter than its header");
}

TEST_F(ViolationTest, UlpduOfNoOctets) {
  open_with_leases();
  peer.send(wire::join({wire::fpdu(Bytes{}), pattern(64)}));
  peer.receive_end();
  EXPECT_TRUE(peer.terminate());
}

// --- DDP headers ---

TEST_F(ViolationTest, DdpVersionOfATaggedSegment) {
  open_with_leases();
  Segment segment = plain_write();
  segment.ddp_version = 2;
  send_segment(segment);
  expect_untouched(0x1104, Fault::protocol, "DDP version 2");
  EXPECT_EQ(server().counter("ddp_errors"), 1u);
}

TEST_F(ViolationTest, DdpVersionOfAnUntaggedSegment) {
  open_with_leases();
  Segment segment = plain_send();
  segment.ddp_version = 0;
  send_segment(segment);
  expect_untouched(0x1206, Fault::protocol, "DDP version 0");
}

TEST_F(ViolationTest, QueueNumberThatDoesNotExist) {
  open_with_leases();
  Segment segment = plain_send();
  segment.qn = 3;
  send_segment(segment);
  expect_untouched(0x1201, Fault::protocol, "queue number 3");
}

TEST_F(ViolationTest, SequenceNumberAhead) {
  open_with_leases();
  Segment segment = plain_send();
  ++segment.msn;
  send_segment(segment);
  expect_untouched(0x1203, Fault::protocol, "message 3 on queue 0 where 2 was expected");
}

TEST_F(ViolationTest, SequenceNumberOfThePast) {
  open_with_leases();
  Segment segment = plain_send();
  --segment.msn;
  send_segment(segment);
  expect_untouched(0x1203, Fault::protocol, "message 1 on queue 0");
}

TEST_F(ViolationTest, SequenceNumberZero) {
  open_with_leases();
  Segment segment = plain_send();
  segment.msn = 0;
  send_segment(segment);
  expect_untouched(0x1203, Fault::protocol, "message 0");
}

TEST_F(ViolationTest, MessageOffsetOfAFirstSegment) {
  open_with_leases();
  Segment segment = plain_send();
  segment.mo = 4;
  send_segment(segment);
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
TEST_F(ViolationTest, MessageOneOctetLargerThanTheReceive) {
  open_with_leases();
  Segment segment = plain_send();
  segment.payload = pattern(kReceive + 1);
  send_segment(segment);
  expect_untouched(0x1205, Fault::receive_too_small, "message 2 has at least 1025 octets");
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
  expect_untouched(0x1205, Fault::receive_too_small, "at least 1025 octets");
}

// V1-2.3.2-3
TEST_F(ViolationTest, MessageWithoutAReceive) {
  open_with_leases();
  server().repost = false;
  for (int i = 0; i < 5; ++i) peer.send(wire::send(next_msn++, bytes_of("x")));
  expect_untouched(0x1202, Fault::receive_too_small, "no receive was posted");
}

// --- RDMAP headers ---

TEST_F(ViolationTest, RdmapVersion) {
  open_with_leases();
  Segment segment = plain_send();
  segment.rdmap_version = 2;
  send_segment(segment);
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

// --- RDMA Write ---

TEST_F(ViolationTest, WriteToAnUnknownStag) {
  open_with_leases();
  Segment segment = plain_write();
  segment.stag ^= 0x00010000;
  send_segment(segment);
  expect_untouched(0x1100, Fault::remote_access, "that is not valid: 100 octets");
  EXPECT_EQ(server().counter("access_errors"), 1u);
}

TEST_F(ViolationTest, WriteWithAnotherKey) {
  open_with_leases();
  Segment segment = plain_write();
  segment.stag ^= 1;
  send_segment(segment);
  expect_untouched(0x1100, Fault::remote_access, "that is not valid");
}

TEST_F(ViolationTest, WriteToStagZero) {
  open_with_leases();
  Segment segment = plain_write();
  segment.stag = 0;
  send_segment(segment);
  expect_untouched(0x1100, Fault::remote_access, "STag 0x00000000 that is not valid");
}

TEST_F(ViolationTest, WriteOneOctetBelowTheBase) {
  open_with_leases();
  Segment segment = plain_write();
  --segment.to;
  send_segment(segment);
  expect_untouched(0x1101, Fault::remote_access, "outside its bounds");
}

TEST_F(ViolationTest, WriteOneOctetBeyondTheEnd) {
  open_with_leases();
  Segment segment = plain_write();
  segment.to += kLeased - segment.payload.size() + 1;
  send_segment(segment);
  expect_untouched(0x1101, Fault::remote_access, "outside its bounds");
}

TEST_F(ViolationTest, WriteOfOneOctetTooMany) {
  open_with_leases();
  send_segment(plain_write(kLeased + 1));
  expect_untouched(0x1101, Fault::remote_access, "outside its bounds");
}

TEST_F(ViolationTest, WriteWhoseOffsetWraps) {
  open_with_leases();
  Segment segment = plain_write();
  segment.to = ~std::uint64_t{0} - 50;
  send_segment(segment);
  expect_untouched(0x1103, Fault::remote_access, "past the end of the address space");
}

TEST_F(ViolationTest, SecondSegmentOfAWriteBeyondTheEnd) {
  open_with_leases();
  Segment segment = plain_write(kLeased);
  segment.last = false;
  send_segment(segment);
  segment.to += kLeased;
  segment.payload = pattern(1);
  send_segment(segment);
  expect_terminated(0x1101, Fault::remote_access, "outside its bounds");
}

TEST_F(ViolationTest, WriteToMemoryLeasedForReading) {
  open_with_leases();
  Segment segment = plain_write();
  segment.stag = read_lease.segment.handle;
  segment.to = read_lease.segment.offset;
  send_segment(segment);
  expect_untouched(0x0102, Fault::remote_access, "against its access right");
}

// V1-8.1.3-1
TEST_F(ViolationTest, WriteBeforeASendHasBoundTheLease) {
  open();
  ASSERT_TRUE(server().endpoint->prepare(write_lease, writable.memory(), Access::remote_write));
  send_segment(plain_write());
  expect_untouched(0x1100, Fault::remote_access, "that is not valid");
}

// V1-8.1.3-1, V1-4.4.1-1
TEST_F(ViolationTest, WriteAfterTheLeaseWasSettled) {
  open_with_leases();
  const Segment late = plain_write();
  ASSERT_TRUE(server().endpoint->settle(write_lease));
  send_segment(late);
  expect_untouched(0x1100, Fault::remote_access, "that is not valid");
  EXPECT_EQ(server().counter("invalidations_local"), 1u);
}

TEST_F(ViolationTest, WriteAfterThePeerInvalidatedTheLease) {
  open_with_leases();
  Segment invalidate = plain_send();
  invalidate.opcode = wire::kSendInvalidate;
  invalidate.invalidate = write_lease.segment.handle;
  send_segment(invalidate);
  send_segment(plain_write());
  expect_untouched(0x1100, Fault::remote_access, "that is not valid");
  EXPECT_EQ(server().messages.back().invalidated, invalidate.invalidate);
  EXPECT_EQ(server().counter("invalidations_remote"), 1u);
}

// V1-8.1.1-1
TEST_F(ViolationTest, WriteToALeaseOfAnotherConnection) {
  open_with_leases();
  RawPeer second(loop);
  second.connect(listener->address());
  second.send(wire::startup({}));
  second.receive_startup();
  second.send(wire::fpdu(plain_write()));
  second.receive_end();
  EXPECT_EQ(second.terminate(), 0x1102u);
  second.close();
  End& other = *acceptor.ends.back();
  ASSERT_TRUE(loop.until([&] { return other.down.has_value(); }));
  EXPECT_NE(other.down->detail.find("of another connection"), std::string::npos);
  EXPECT_TRUE(writable.untouched());
  // The connection that owns the lease is not disturbed.
  EXPECT_FALSE(server().down);
  EXPECT_EQ(write_lease.state, LeaseState::bound);
}

// --- RDMA Read ---

TEST_F(ViolationTest, ReadFromAnUnknownStag) {
  open_with_leases();
  wire::Read read = plain_read();
  read.source_stag ^= 0x00010000;
  peer.send(wire::read_request(1, read));
  expect_untouched(0x0100, Fault::remote_access, "RDMA Read from STag");
}

// RFC 5040 section 4.8: the headers of the offending message come back.
TEST_F(ViolationTest, ARefusedReadRequestIsQuotedInTheTerminate) {
  open_with_leases();
  wire::Read read = plain_read();
  read.source_stag ^= 1;
  const Bytes request = wire::read_request(1, read);
  peer.send(request);
  expect_untouched(0x0100, Fault::remote_access, "");
  const Bytes& payload = peer.fpdus.back().payload;
  ASSERT_EQ(payload.size(), 4u + 2 + 18 + 28);
  EXPECT_EQ(payload[2], std::byte{0xe0});  // M, D and R
  // Length field, DDP header and Read Request stand in the FPDU as in the quotation.
  EXPECT_TRUE(std::equal(payload.begin() + 4, payload.end(), request.begin()));
}

TEST_F(ViolationTest, ARefusedWriteIsQuotedInTheTerminate) {
  open_with_leases();
  Segment segment = plain_write();
  segment.stag ^= 1;
  const Bytes frame = wire::fpdu(segment);
  peer.send(frame);
  expect_untouched(0x1100, Fault::remote_access, "");
  const Bytes& payload = peer.fpdus.back().payload;
  ASSERT_EQ(payload.size(), 4u + 2 + 14);
  EXPECT_EQ(payload[2], std::byte{0xc0});  // M and D
  EXPECT_TRUE(std::equal(payload.begin() + 4, payload.end(), frame.begin()));
}

TEST_F(ViolationTest, ReadBeyondTheEnd) {
  open_with_leases();
  peer.send(wire::read_request(1, plain_read(kLeased + 1)));
  expect_untouched(0x0101, Fault::remote_access, "outside its bounds");
}

TEST_F(ViolationTest, ReadWhoseOffsetWraps) {
  open_with_leases();
  wire::Read read = plain_read();
  read.source_to = ~std::uint64_t{0} - 50;
  peer.send(wire::read_request(1, read));
  expect_untouched(0x0104, Fault::remote_access, "past the end of the address space");
}

TEST_F(ViolationTest, ReadFromMemoryLeasedForWriting) {
  open_with_leases();
  wire::Read read = plain_read();
  read.source_stag = write_lease.segment.handle;
  read.source_to = write_lease.segment.offset;
  peer.send(wire::read_request(1, read));
  expect_untouched(0x0102, Fault::remote_access, "against its access right");
}

TEST_F(ViolationTest, ReadAfterTheLeaseWasSettled) {
  open_with_leases();
  const wire::Read late = plain_read();
  ASSERT_TRUE(server().endpoint->settle(read_lease));
  peer.send(wire::read_request(1, late));
  expect_untouched(0x0100, Fault::remote_access, "that is not valid");
}

// V1-8.1.1-1
TEST_F(ViolationTest, ReadFromALeaseOfAnotherConnection) {
  open_with_leases();
  RawPeer second(loop);
  second.connect(listener->address());
  second.send(wire::startup({}));
  second.receive_startup();
  second.send(wire::read_request(1, plain_read()));
  second.receive_end();
  EXPECT_EQ(second.terminate(), 0x0103u);
}

TEST_F(ViolationTest, ReadRequestOfAWrongSize) {
  for (const std::size_t size : {27, 29}) {
    SCOPED_TRACE(size);
    RawPeer each(loop);
    each.connect(listener->address());
    each.send(wire::startup({}));
    each.receive_startup();
    Segment segment;
    segment.opcode = wire::kReadRequest;
    segment.qn = 1;
    segment.payload = pattern(size);
    each.send(wire::fpdu(segment));
    each.receive_end();
    EXPECT_EQ(each.terminate(), 0x1205u);
  }
}

TEST_F(ViolationTest, ReadRequestThatIsNotTheLastSegment) {
  open_with_leases();
  Segment segment;
  segment.opcode = wire::kReadRequest;
  segment.qn = 1;
  segment.last = false;
  segment.payload = wire::read_request_payload(plain_read());
  send_segment(segment);
  expect_untouched(0x1205, Fault::protocol, "RDMA Read Request of 28 or more octets");
}

TEST_F(ViolationTest, ReadRequestOutOfSequence) {
  open_with_leases();
  peer.send(wire::read_request(2, plain_read()));
  expect_untouched(0x1203, Fault::protocol, "message 2 on queue 1 where 1 was expected");
}

// --- Send with Invalidate ---

TEST_F(ViolationTest, InvalidateOfAnUnknownStag) {
  open_with_leases();
  Segment segment = plain_send();
  segment.opcode = wire::kSendInvalidate;
  segment.invalidate = 0x12345678;
  send_segment(segment);
  expect_untouched(0x0109, Fault::remote_access, "Send with Invalidate of STag 0x12345678");
  EXPECT_EQ(server().messages.size(), 1u);
}

TEST_F(ViolationTest, InvalidateTwice) {
  open_with_leases();
  Segment segment = plain_send();
  segment.opcode = wire::kSendSolicitedInvalidate;
  segment.invalidate = read_lease.segment.handle;
  send_segment(segment);
  ++segment.msn;
  send_segment(segment);
  expect_untouched(0x0109, Fault::remote_access, "that is not valid");
  EXPECT_EQ(server().messages.size(), 2u);
}

// V1-8.1.1-1
TEST_F(ViolationTest, InvalidateOfALeaseOfAnotherConnection) {
  open_with_leases();
  RawPeer second(loop);
  second.connect(listener->address());
  second.send(wire::startup({}));
  second.receive_startup();
  Segment segment;
  segment.opcode = wire::kSendInvalidate;
  segment.invalidate = write_lease.segment.handle;
  second.send(wire::fpdu(segment));
  second.receive_end();
  EXPECT_EQ(second.terminate(), 0x0109u);
  // It is still valid where it belongs.
  send_segment(plain_write());
  peer.send(wire::send(next_msn++, bytes_of("done")));
  ASSERT_TRUE(loop.until([&] { return server().messages.size() == 2; }));
  EXPECT_FALSE(writable.untouched());
  EXPECT_TRUE(writable.canaries_intact());
}

// --- Terminate ---

TEST_F(ViolationTest, ATerminateFromThePeerIsReportedAndNotAnswered) {
  open_with_leases();
  Segment segment;
  segment.opcode = wire::kTerminate;
  segment.qn = 2;
  segment.payload = {std::byte{0x11}, std::byte{0x01}, std::byte{0}, std::byte{0}};
  send_segment(segment);
  peer.receive_end();
  EXPECT_FALSE(peer.terminate());
  ASSERT_TRUE(loop.until([&] { return server().down.has_value(); }));
  EXPECT_TRUE(server().down->is(Layer::fabric, static_cast<int>(Fault::remote_terminate)));
  EXPECT_NE(server().down->detail.find("DDP tagged buffer error: base or bounds violation"),
            std::string::npos);
  EXPECT_EQ(server().counter("terminates_received"), 1u);
  expect_everything_returned();
}

TEST_F(ViolationTest, ATerminateThatSaysNothingIsStillATerminate) {
  open_with_leases();
  Segment segment;
  segment.opcode = wire::kTerminate;
  segment.qn = 2;
  send_segment(segment);
  ASSERT_TRUE(loop.until([&] { return server().down.has_value(); }));
  EXPECT_TRUE(server().down->is(Layer::fabric, static_cast<int>(Fault::remote_terminate)));
}

TEST_F(ViolationTest, NothingIsReadAfterAViolation) {
  open_with_leases();
  Segment bad = plain_send();
  bad.msn = 99;
  peer.send(wire::join(
      {wire::fpdu(bad), wire::fpdu(plain_write()), wire::send(next_msn, bytes_of("late"))}));
  expect_untouched(0x1203, Fault::protocol, "");
  EXPECT_EQ(server().messages.size(), 1u);
}

}  // namespace
}  // namespace nfsrdma::fabric::testing
