// What a peer must not send at the MPA level, and what happens after any violation.
#include "tests/transport/fabric/iwarp/violation_fixture.h"

namespace nfsrdma::fabric::testing {
namespace {

using wire::Segment;

TEST_F(ViolationTest, WrongCrcInTheCrcItself) {
  open_with_leases();
  Bytes frame = wire::write(write_lease.segment.handle, write_lease.segment.offset, pattern(64));
  frame.back() ^= std::byte{1};
  peer.send(frame);
  expect_terminated(0x2002, Fault::protocol, "CRC mismatch in the FPDU at stream byte ");
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
  expect_terminated(0x2002, Fault::protocol, "stream byte " + std::to_string(hello) + ":");
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

TEST_F(ViolationTest, UlpduOfNoBytes) {
  open_with_leases();
  peer.send(wire::join({wire::fpdu(Bytes{}), pattern(64)}));
  peer.receive_end();
  EXPECT_TRUE(peer.terminate());
}

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
