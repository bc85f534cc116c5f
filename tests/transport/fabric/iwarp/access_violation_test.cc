// RDMA Writes, RDMA Reads and invalidations of memory the peer has no right to.
#include "tests/transport/fabric/iwarp/violation_fixture.h"

namespace nfsrdma::fabric::testing {
namespace {

using wire::Segment;

TEST_F(ViolationTest, WriteToAnUnknownStag) {
  open_and_write([](Segment& segment) { segment.stag ^= 0x00010000; });
  expect_untouched(0x1100, Fault::remote_access, "that is not valid: 100 bytes");
  EXPECT_EQ(server().counter("access_errors"), 1u);
}

TEST_F(ViolationTest, WriteWithAnotherKey) {
  open_and_write([](Segment& segment) { segment.stag ^= 1; });
  expect_untouched(0x1100, Fault::remote_access, "that is not valid");
}

TEST_F(ViolationTest, WriteToStagZero) {
  open_and_write([](Segment& segment) { segment.stag = 0; });
  expect_untouched(0x1100, Fault::remote_access, "STag 0x00000000 that is not valid");
}

TEST_F(ViolationTest, WriteOneByteBelowTheBase) {
  open_and_write([](Segment& segment) { --segment.to; });
  expect_untouched(0x1101, Fault::remote_access, "outside its bounds");
}

TEST_F(ViolationTest, WriteOneByteBeyondTheEnd) {
  open_and_write([](Segment& segment) { segment.to += kLeased - segment.payload.size() + 1; });
  expect_untouched(0x1101, Fault::remote_access, "outside its bounds");
}

TEST_F(ViolationTest, WriteOfOneByteTooMany) {
  open_with_leases();
  send_segment(plain_write(kLeased + 1));
  expect_untouched(0x1101, Fault::remote_access, "outside its bounds");
}

TEST_F(ViolationTest, WriteWhoseOffsetWraps) {
  open_and_write([](Segment& segment) { segment.to = ~std::uint64_t{0} - 50; });
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
  open_and_write([&](Segment& segment) {
    segment.stag = read_lease.segment.handle;
    segment.to = read_lease.segment.offset;
  });
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
  ASSERT_TRUE(server().endpoint->invalidate(write_lease));
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
  ASSERT_TRUE(server().endpoint->invalidate(read_lease));
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
  expect_untouched(0x1205, Fault::protocol, "RDMA Read Request of 28 or more bytes");
}

TEST_F(ViolationTest, ReadRequestOutOfSequence) {
  open_with_leases();
  peer.send(wire::read_request(2, plain_read()));
  expect_untouched(0x1203, Fault::protocol, "message 2 on queue 1 where 1 was expected");
}

TEST_F(ViolationTest, InvalidateOfAnUnknownStag) {
  open_and_send([](Segment& segment) {
    segment.opcode = wire::kSendInvalidate;
    segment.invalidate = 0x12345678;
  });
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

}  // namespace
}  // namespace nfsrdma::fabric::testing
