// MPA startup as responder, against a raw socket that asks.
#include <deque>

#include "tests/transport/fabric/iwarp/negotiation_fixture.h"

namespace nfsrdma::fabric::testing {
namespace {

/// The provider is the responder; the raw socket asks.
class ResponderTest : public NegotiationTest {
 protected:
  ResponderTest() {
    auto made = fabric->listen(address_of("127.0.0.1"), acceptor);
    EXPECT_TRUE(made);
    listener = std::move(*made);
  }
  Bytes ask(const wire::Startup& request) {
    peer.connect(listener->address());
    peer.send(wire::startup(request));
    return peer.receive_startup();
  }

  Acceptor acceptor;
  std::unique_ptr<Listener> listener;
  RawPeer peer{loop};
};

TEST_F(ResponderTest, AnswersRevision2Enhanced) {
  const Bytes mine = pattern(20);
  acceptor.options.private_data = mine;
  acceptor.options.ird = 9;
  acceptor.options.ord = 12;
  const Bytes theirs = pattern(30, 2);
  const Bytes reply = ask({.ird = std::uint16_t{7}, .ord = 40, .private_data = theirs});
  EXPECT_EQ(reply, wire::startup(
                       {.reply = true, .ird = std::uint16_t{9}, .ord = 7, .private_data = mine}));
  EXPECT_EQ(acceptor.private_data.back(), theirs);
}

TEST_F(ResponderTest, AnswersRevision1WithRevision1) {
  const Bytes reply = ask({.flags = 0, .revision = 1, .ird = {}, .private_data = pattern(3)});
  EXPECT_EQ(reply, wire::startup({.reply = true, .flags = kC, .revision = 1, .ird = {}}));
  EXPECT_EQ(acceptor.private_data.back(), pattern(3));
}

TEST_F(ResponderTest, WithoutCrcWhenNeitherSideAsks) {
  acceptor.options.crc = false;
  EXPECT_EQ(flags_of(ask({.flags = kS})), kS);
}

TEST_F(ResponderTest, WithCrcWhenOnlyThePeerAsks) {
  acceptor.options.crc = false;
  EXPECT_EQ(flags_of(ask({.flags = kS | kC})), kS | kC);
}

TEST_F(ResponderTest, MarkersAreRejected) {
  EXPECT_EQ(flags_of(ask({.flags = kM | kC | kS})) & (kM | kR), kR);
  peer.receive_end();
  EXPECT_TRUE(acceptor.ends.empty());
}

TEST_F(ResponderTest, Revision3IsRejectedWithTheHighestKnown) {
  const Bytes reply = ask({.revision = 3});
  EXPECT_EQ(revision_of(reply), 2);
  EXPECT_EQ(flags_of(reply) & kR, kR);
  peer.receive_end();
  EXPECT_TRUE(acceptor.ends.empty());
}

TEST_F(ResponderTest, PeerToPeerModeWithAWriteIsAccepted) {
  // A, and C: an RDMA Write of no bytes as ready-to-receive message.
  const Bytes reply = ask({.ird = std::uint16_t{0x8010}, .ord = 0x8010});
  EXPECT_EQ(reply, wire::startup({.reply = true, .ird = std::uint16_t{0x8010}, .ord = 0x8010}));
  peer.send(wire::write(0, 0, {}));
  ASSERT_FALSE(acceptor.ends.empty());
  const Bytes hello = pattern(10);
  ASSERT_TRUE(acceptor.ends[0]->send(hello));
  peer.receive_fpdus(1);
  EXPECT_EQ(peer.fpdus[0].payload, hello);
}

TEST_F(ResponderTest, PeerToPeerModeWithAReadIsAccepted) {
  const Bytes reply = ask({.ird = std::uint16_t{0x8010}, .ord = 0x4010});
  EXPECT_EQ(reply, wire::startup({.reply = true, .ird = std::uint16_t{0x8010}, .ord = 0x4010}));
  peer.send(wire::read_request(1, {.sink_stag = 5, .sink_to = 6}));
  peer.receive_fpdus(1);
  EXPECT_EQ(peer.fpdus[0].opcode, wire::kReadResponse);
  EXPECT_EQ(peer.fpdus[0].stag, 5u);
  EXPECT_TRUE(peer.fpdus[0].payload.empty());
}

TEST_F(ResponderTest, PeerToPeerModeWithOnlyASendIsRejected) {
  EXPECT_EQ(flags_of(ask({.ird = std::uint16_t{0xc010}, .ord = 0x10})) & kR, kR);
}

TEST_F(ResponderTest, TheConsumerRejectsWithPrivateData) {
  acceptor.reject_with = pattern(16, 8);
  const Bytes reply = ask({});
  EXPECT_EQ(flags_of(reply) & kR, kR);
  EXPECT_EQ(Bytes(reply.begin() + 24, reply.end()), *acceptor.reject_with);
  peer.receive_end();
}

TEST_F(ResponderTest, ARequestByteByByteIsUnderstood) {
  peer.connect(listener->address());
  for (std::byte byte : wire::startup({.private_data = pattern(40)})) {
    peer.send({byte});
    loop.reactor().run_once(Duration::zero());
  }
  EXPECT_EQ(revision_of(peer.receive_startup()), 2);
  EXPECT_EQ(acceptor.private_data.back(), pattern(40));
}

TEST_F(ResponderTest, AnyRequestCutShortIsForgotten) {
  const Bytes request = wire::startup({.private_data = pattern(4)});
  for (std::size_t length = 0; length < request.size(); ++length) {
    RawPeer each(loop);
    each.connect(listener->address());
    each.send(Bytes(request.begin(), request.begin() + static_cast<std::ptrdiff_t>(length)));
    if (length % 2 != 0) {
      each.reset();
    } else {
      each.finish_writing();
      each.receive_end();
    }
  }
  loop.settle();
  EXPECT_TRUE(acceptor.ends.empty());
  EXPECT_EQ(revision_of(ask({})), 2);  // it still serves
}

// Beyond the handshakes that are kept open the oldest goes, so those who connect and say nothing
// keep no other out.
TEST_F(ResponderTest, SilentConnectionsHoldUpNobody) {
  std::deque<RawPeer> silent;
  for (const int more : {100, 92}) {
    for (int i = 0; i < more; ++i) silent.emplace_back(loop).connect(listener->address());
    loop.settle();
  }
  EXPECT_EQ(revision_of(ask({})), 2);
  silent.front().receive_end();
}

TEST_F(ResponderTest, SomethingElseThanMpaIsClosed) {
  peer.connect(listener->address());
  peer.send(bytes_of("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"));
  peer.receive_end();
  EXPECT_TRUE(peer.received.empty());
  EXPECT_TRUE(acceptor.ends.empty());
}

// RFC 5044 section 7.1.2: the responder's FPDUs wait for the initiator's first.
TEST_F(ResponderTest, SendsWaitForTheInitiatorsFirstFpdu) {
  const Bytes early = pattern(10);
  acceptor.on_accept = [&](End& end) { ASSERT_TRUE(end.send(early)); };
  ask({});
  loop.settle();
  EXPECT_TRUE(peer.received.empty());
  EXPECT_EQ(acceptor.ends[0]->counter("fpdus_sent"), 0u);
  peer.send(wire::send(1, bytes_of("first")));
  peer.receive_fpdus(1);
  EXPECT_EQ(peer.fpdus[0].payload, early);
}

TEST_F(ResponderTest, AFirstMessageTogetherWithTheRequestIsNotLost) {
  // Against RFC 5044, but harmless: nothing is read beyond the Request before it is accepted.
  peer.connect(listener->address());
  peer.send(wire::join({wire::startup({}), wire::send(1, bytes_of("eager"))}));
  ASSERT_TRUE(
      loop.until([&] { return !acceptor.ends.empty() && !acceptor.ends[0]->messages.empty(); }));
  EXPECT_EQ(text_of(acceptor.ends[0]->messages[0].data), "eager");
}

}  // namespace
}  // namespace nfsrdma::fabric::testing
