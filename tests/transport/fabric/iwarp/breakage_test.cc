// Connections that end or dawdle at every point of a dialogue.
#include "tests/transport/fabric/iwarp/hostile_fixture.h"

namespace nfsrdma::fabric::testing {
namespace {

class BreakageTest : public HostileTest {
 protected:
  /// What the peer of open_with_leases sends next: every kind of message it may.
  Bytes dialogue() {
    wire::Segment half;
    half.msn = 2;
    half.last = false;
    half.payload = pattern(30);
    wire::Segment rest = half;
    rest.mo = 30;
    rest.last = true;
    wire::Segment invalidate;
    invalidate.opcode = wire::kSendSolicitedInvalidate;
    invalidate.msn = 3;
    invalidate.invalidate = write_lease.segment.handle;
    invalidate.payload = pattern(7);
    return wire::join(
        {wire::write(write_lease.segment.handle, write_lease.segment.offset, pattern(50), false),
         wire::write(write_lease.segment.handle, write_lease.segment.offset + 50, pattern(51)),
         wire::fpdu(half), wire::fpdu(rest),
         wire::read_request(1, {7, 8, 60, read_lease.segment.handle, read_lease.segment.offset}),
         wire::fpdu(invalidate)});
  }
  void expect_dialogue_done() {
    ASSERT_TRUE(loop.until([&] { return server().messages.size() == 3; }));
    peer.receive_fpdus(1);
    EXPECT_EQ(peer.fpdus.back().opcode, wire::kReadResponse);
    EXPECT_EQ(server().messages[1].data, wire::join({pattern(30), pattern(30)}));
    EXPECT_EQ(server().messages[2].data, pattern(7));
    EXPECT_EQ(server().messages[2].invalidated, write_lease.segment.handle);
    EXPECT_EQ(server().counter("write_bytes_placed"), 101u);
    EXPECT_TRUE(writable.canaries_intact());
  }
};

TEST_F(BreakageTest, EveryByteByItself) {
  open_with_leases();
  const std::uint64_t before = server().counter("bytes_received");
  std::uint64_t sent = 0;
  for (std::byte byte : dialogue()) {
    peer.send({byte});
    ++sent;
    ASSERT_TRUE(loop.until([&] { return server().counter("bytes_received") == before + sent; }));
  }
  expect_dialogue_done();
}

TEST_F(BreakageTest, EveryCutInTwo) {
  std::size_t length = 2;
  for (std::size_t cut = 1; cut < length; cut += 7) {
    SCOPED_TRACE(cut);
    start_over();
    open_with_leases();
    const Bytes bytes = dialogue();
    length = bytes.size();
    const std::uint64_t before = server().counter("bytes_received");
    peer.send(Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(cut)));
    ASSERT_TRUE(loop.until([&] { return server().counter("bytes_received") == before + cut; }));
    peer.send(Bytes(bytes.begin() + static_cast<std::ptrdiff_t>(cut), bytes.end()));
    expect_dialogue_done();
  }
}

enum class Ending { fin, rst, local };

class EndingTest : public BreakageTest, public ::testing::WithParamInterface<Ending> {
 protected:
  void end() {
    switch (GetParam()) {
      case Ending::fin: return peer.close();
      case Ending::rst: return peer.reset();
      case Ending::local:
        server().endpoint->disconnect(Error::local(ECANCELED, "test"));
        server().endpoint->disconnect(Error::local(EIO, "ignored"));
        return peer.close();
    }
  }
  void expect_reason() {
    const Error& down = *server().down;
    if (GetParam() == Ending::local) {
      EXPECT_TRUE(down.is(Layer::local, ECANCELED)) << down.message();
    } else {
      const bool closed = down.is(Layer::fabric, static_cast<int>(Fault::closed));
      const bool reset = down.is(Layer::fabric, static_cast<int>(Fault::reset));
      EXPECT_TRUE(closed || reset) << down.message();
    }
  }
};

// V1-8.1.3-3: whenever a connection ends, everything is given back, once.
TEST_P(EndingTest, AtEveryPointGivesEverythingBackOnce) {
  std::size_t length = 1;
  for (std::size_t cut = 0; cut < length; cut += 3) {
    SCOPED_TRACE(cut);
    start_over();
    open_with_leases();
    const Bytes bytes = dialogue();
    length = bytes.size();
    peer.send(Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(cut)));
    end();
    ASSERT_TRUE(loop.until([&] { return server().down.has_value(); }));
    expect_reason();
    expect_everything_returned();
    // Everything fails now, and nothing more is heard.
    const Bytes late = pattern(4);
    EXPECT_FALSE(server().send(late));
    loop.settle();
    EXPECT_EQ(server().disconnects, 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Endings, EndingTest,
                         ::testing::Values(Ending::fin, Ending::rst, Ending::local),
                         [](const auto& each) {
                           return each.param == Ending::fin   ? "Fin"
                                  : each.param == Ending::rst ? "Rst"
                                                              : "Local";
                         });

TEST_F(BreakageTest, AnEndBetweenFpdusHasNoDetailAndOneWithinSaysWhere) {
  open_with_leases();
  peer.close();
  ASSERT_TRUE(loop.until([&] { return server().down.has_value(); }));
  EXPECT_EQ(server().down->detail, "");

  start_over();
  open_with_leases();
  const std::size_t hello = wire::send(1, bytes_of("hello")).size();
  const Bytes frame = wire::send(2, pattern(9));
  peer.send(Bytes(frame.begin(), frame.end() - 1));
  peer.close();
  ASSERT_TRUE(loop.until([&] { return server().down.has_value(); }));
  EXPECT_EQ(server().down->detail,
            "in the middle of the FPDU at stream byte " + std::to_string(hello));
}

TEST_F(BreakageTest, ALocalDisconnectSendsWhatWasPosted) {
  open();
  const Bytes last = pattern(300000);
  ASSERT_TRUE(server().send(last));
  server().endpoint->disconnect(Error::local(ECANCELED, "test"));
  EXPECT_EQ(server().disconnects, 0);  // never from within a call
  peer.receive_end();
  std::size_t got = 0;
  for (const auto& each : peer.fpdus) got += each.payload.size();
  EXPECT_EQ(got, last.size());
  EXPECT_FALSE(peer.terminate());
  EXPECT_FALSE(server().down);  // it waits for the peer to close, too
  peer.close();
  ASSERT_TRUE(loop.until([&] { return server().down.has_value(); }));
}

TEST_F(BreakageTest, APeerThatDoesNotCloseIsNotWaitedForLong) {
  open();
  server().endpoint->disconnect(Error::local(ECANCELED, "test"));
  ASSERT_TRUE(loop.until([&] { return server().down.has_value(); }));
  EXPECT_TRUE(server().down->is(Layer::local, ECANCELED));
}

TEST_F(BreakageTest, APeerThatDoesNotReadIsNotWaitedForLong) {
  peer.small_receive_buffer = true;
  open();
  const Bytes large = pattern(8 << 20);
  ASSERT_TRUE(server().send(large));
  loop.settle();
  server().endpoint->disconnect(Error::local(ECANCELED, "test"));
  ASSERT_TRUE(loop.until([&] { return server().down.has_value(); }));
}

TEST_F(BreakageTest, ATerminateFollowsTheFpduThatWasHalfWritten) {
  peer.small_receive_buffer = true;
  open();
  const Bytes large = pattern(8 << 20);
  ASSERT_TRUE(server().send(large));
  loop.settle();
  wire::Segment bad;
  bad.msn = 77;
  peer.send(wire::fpdu(bad));
  peer.receive_end();
  for (const auto& each : peer.fpdus) EXPECT_TRUE(each.crc_right);
  EXPECT_EQ(peer.terminate(), 0x1203u);
  EXPECT_TRUE(peer.received.empty());
}

TEST_F(BreakageTest, AnEndpointMayBeDestroyedWithEverythingUnderWay) {
  peer.small_receive_buffer = true;
  open_with_leases();
  const Bytes large = pattern(8 << 20);
  ASSERT_TRUE(server().send(large));
  ASSERT_TRUE(server().endpoint->post_read(writable.memory(), {1, 100, 2}, nullptr));
  const Bytes bytes = dialogue();
  peer.send(Bytes(bytes.begin(), bytes.begin() + 40));
  loop.settle();
  server().endpoint.reset();
  EXPECT_EQ(server().disconnects, 0);
  EXPECT_EQ(write_lease.state, LeaseState::free);
  EXPECT_TRUE(server().all_receives_returned());
  peer.receive_end();
}

}  // namespace
}  // namespace nfsrdma::fabric::testing
