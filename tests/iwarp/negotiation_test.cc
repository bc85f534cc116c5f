// MPA startup against a raw socket, in both roles (RFC 5044 section 7.1, RFC 6581).
#include <fmt/core.h>

#include "tests/iwarp/fabric_fixture.h"
#include "tests/iwarp/raw_peer.h"

namespace nfsrdma::fabric::testing {
namespace {

constexpr std::uint8_t kM = 0x80;
constexpr std::uint8_t kC = 0x40;
constexpr std::uint8_t kR = 0x20;
constexpr std::uint8_t kS = 0x10;

int flags_of(const Bytes& frame) { return std::to_integer<int>(frame[16]); }
int revision_of(const Bytes& frame) { return std::to_integer<int>(frame[17]); }

class NegotiationTest : public ::testing::Test {
 protected:
  NegotiationTest() : fabric(make_iwarp_fabric(loop.reactor())) {}

  Loop loop;
  std::unique_ptr<Fabric> fabric;
  EndpointOptions options;
};

/// The provider is the initiator; the raw socket answers.
class InitiatorTest : public NegotiationTest {
 protected:
  void start() {
    peer.listen("127.0.0.1");
    auto made = fabric->connect(peer.address(), client, options);
    ASSERT_TRUE(made) << made.error().message();
    client.endpoint = std::move(*made);
    client.post_all();
    peer.accept();
  }
  void expect_down(Fault fault, const std::string& words) {
    ASSERT_TRUE(loop.until([&] { return client.down.has_value(); }));
    EXPECT_TRUE(client.down->is(Layer::fabric, static_cast<int>(fault))) << client.down->message();
    EXPECT_NE(client.down->message().find(words), std::string::npos) << client.down->message();
    EXPECT_EQ(client.disconnects, 1);
    EXPECT_FALSE(client.established);
    EXPECT_TRUE(client.all_receives_returned());
  }
  void expect_established(const std::string& words) {
    ASSERT_TRUE(loop.until([&] { return client.established || client.down; }));
    ASSERT_TRUE(client.established) << client.down->message();
    EXPECT_NE(client.description.find(words), std::string::npos) << client.description;
  }

  RawPeer peer{loop};
  End client;
};

TEST_F(InitiatorTest, OpensWithRevision2EnhancedAndDepthsAboveZero) {
  const Bytes mine = pattern(12);
  options.private_data = mine;
  options.ird = 16;
  options.ord = 3;
  start();
  wire::Startup expected;
  expected.ird = 16;
  expected.ord = 3;
  expected.private_data = mine;
  EXPECT_EQ(peer.receive_startup(), wire::startup(expected));
}

TEST_F(InitiatorTest, AcceptsAReplyAndItsPrivateData) {
  start();
  peer.receive_startup();
  wire::Startup reply;
  reply.reply = true;
  reply.ird = 4;
  reply.ord = 16;
  reply.private_data = pattern(8);
  peer.send(wire::startup(reply));
  expect_established("iwarp MPA 2, CRC, 127.0.0.1:");
  EXPECT_EQ(client.peer_private_data, reply.private_data);
  EXPECT_EQ(client.ord, 4u);
  EXPECT_EQ(client.ird, 16u);
}

TEST_F(InitiatorTest, AReplyThatArrivesOctetByOctetIsAccepted) {
  start();
  peer.receive_startup();
  wire::Startup reply;
  reply.reply = true;
  reply.private_data = pattern(5);
  for (std::byte octet : wire::startup(reply)) {
    peer.send({octet});
    loop.reactor().run_once(Duration::zero());
  }
  expect_established("MPA 2");
  EXPECT_EQ(client.peer_private_data, reply.private_data);
}

struct CrcCase {
  bool ours;
  bool peers;
};
class CrcTest : public InitiatorTest, public ::testing::WithParamInterface<CrcCase> {};

TEST_P(CrcTest, IsUsedExactlyWhenEitherSideAsks) {
  options.crc = GetParam().ours;
  start();
  EXPECT_EQ(flags_of(peer.receive_startup()), kS | (GetParam().ours ? kC : 0));
  wire::Startup reply;
  reply.reply = true;
  reply.flags = kS | (GetParam().peers ? kC : 0);
  peer.send(wire::startup(reply));
  const bool used = GetParam().ours || GetParam().peers;
  expect_established(used ? ", CRC," : ", no CRC,");
  const Bytes data = pattern(21);
  ASSERT_TRUE(client.send(data));
  peer.receive(48);
  EXPECT_EQ(peer.received.size(), 48u);
  const bool zero_field = std::all_of(peer.received.end() - 4, peer.received.end(),
                                      [](std::byte octet) { return octet == std::byte{0}; });
  EXPECT_EQ(zero_field, !used);
  // And on receive it is checked exactly then.
  peer.send(wire::fpdu(wire::Segment{.payload = data}, false));
  ASSERT_TRUE(loop.until([&] { return !client.messages.empty() || client.counter("crc_errors"); }));
  EXPECT_EQ(client.messages.empty(), used);
}

INSTANTIATE_TEST_SUITE_P(Crc, CrcTest,
                         ::testing::Values(CrcCase{true, true}, CrcCase{true, false},
                                           CrcCase{false, true}, CrcCase{false, false}),
                         [](const auto& each) {
                           return fmt::format("Ours{:d}Peers{:d}", each.param.ours,
                                              each.param.peers);
                         });

TEST_F(InitiatorTest, FallsBackToRevision1OnANewConnection) {
  const Bytes mine = pattern(9);
  options.private_data = mine;
  start();
  EXPECT_EQ(revision_of(peer.receive_startup()), 2);
  wire::Startup old{.reply = true, .flags = kC, .revision = 1, .ird = {}};
  peer.send(wire::startup(old));
  peer.receive_end();
  peer.accept();
  wire::Startup expected{.flags = kC, .revision = 1, .ird = {}, .private_data = mine};
  EXPECT_EQ(peer.receive_startup(), wire::startup(expected));
  peer.send(wire::startup(old));
  expect_established("MPA 1, CRC");
}

TEST_F(InitiatorTest, ARevision1RejectionLeadsToOneMoreTryOnly) {
  start();
  peer.receive_startup();
  wire::Startup rejection{.reply = true, .flags = kR, .revision = 1, .ird = {}};
  peer.send(wire::startup(rejection));
  peer.receive_end();
  peer.accept();
  EXPECT_EQ(revision_of(peer.receive_startup()), 1);
  peer.send(wire::startup(rejection));
  expect_down(Fault::rejected, "MPA revision 1");
}

TEST_F(InitiatorTest, Rejection) {
  start();
  peer.receive_startup();
  peer.send(wire::startup({.reply = true, .flags = kC | kR | kS}));
  expect_down(Fault::rejected, "rejected");
}

TEST_F(InitiatorTest, MarkersAreRefused) {
  start();
  peer.receive_startup();
  peer.send(wire::startup({.reply = true, .flags = kM | kC | kS}));
  expect_down(Fault::protocol, "markers");
}

TEST_F(InitiatorTest, ARevisionThatWasNotAskedForIsRefused) {
  start();
  peer.receive_startup();
  peer.send(wire::startup({.reply = true, .revision = 3}));
  expect_down(Fault::protocol, "revision 2 answered with 3");
}

TEST_F(InitiatorTest, PeerToPeerModeThatWasNotAskedForIsRefused) {
  start();
  peer.receive_startup();
  peer.send(wire::startup({.reply = true, .ird = std::uint16_t{0x8010}}));
  expect_down(Fault::protocol, "peer-to-peer");
}

TEST_F(InitiatorTest, AReplyThatIsNoReplyIsRefused) {
  start();
  peer.receive_startup();
  peer.send(wire::startup({.reply = false}));
  expect_down(Fault::protocol, "not an MPA Reply frame");
}

TEST_F(InitiatorTest, PrivateDataLongerThanTheRfcAllowsIsRefused) {
  start();
  peer.receive_startup();
  Bytes frame = wire::startup({.reply = true});
  frame[18] = std::byte{2};
  frame[19] = std::byte{1};
  peer.send(frame);
  expect_down(Fault::protocol, "PD_Length 513");
}

TEST_F(InitiatorTest, AnEnhancedReplyWithoutItsWordsIsRefused) {
  start();
  peer.receive_startup();
  peer.send(wire::startup({.reply = true, .ird = {}}));
  expect_down(Fault::protocol, "PD_Length 0 of an enhanced frame");
}

TEST_F(InitiatorTest, ThePeerClosesWithoutAReply) {
  start();
  peer.receive_startup();
  peer.close();
  expect_down(Fault::closed, "after 0 octets");
}

TEST_F(InitiatorTest, ThePeerResetsWithoutAReply) {
  start();
  peer.receive_startup();
  peer.reset();
  expect_down(Fault::reset, "connection reset");
}

TEST_F(InitiatorTest, NoReplyInTime) {
  options.connect_timeout = std::chrono::milliseconds(30);
  start();
  peer.receive_startup();
  expect_down(Fault::timed_out, "no answer in time");
}

TEST_F(InitiatorTest, NobodyListens) {
  RawPeer closed(loop);
  closed.listen("127.0.0.1");
  const Address address = closed.address();
  { RawPeer gone = std::move(closed); }
  auto made = fabric->connect(address, client, options);
  ASSERT_TRUE(made);
  client.endpoint = std::move(*made);
  client.post_all();
  EXPECT_EQ(client.disconnects, 0);  // never from within connect()
  expect_down(Fault::refused, address.text());
}

TEST_F(InitiatorTest, DisconnectWhileConnecting) {
  start();
  client.endpoint->disconnect(Error::local(ECANCELED, "test"));
  EXPECT_EQ(client.disconnects, 0);
  ASSERT_TRUE(loop.until([&] { return client.down.has_value(); }));
  EXPECT_TRUE(client.down->is(Layer::local, ECANCELED));
  peer.receive_end();
  EXPECT_EQ(client.disconnects, 1);
}

TEST_F(InitiatorTest, PostsBeforeTheConnectionIsUpFail) {
  start();
  const Bytes data = pattern(4);
  EXPECT_FALSE(client.send(data));
}

TEST_F(InitiatorTest, OptionsThatCannotBeSaidAreRefused) {
  const Bytes longest = pattern(508);
  const Bytes too_long = pattern(509);
  options.private_data = too_long;
  EXPECT_FALSE(fabric->connect(address_of("127.0.0.1", 1), client, options));
  options.private_data = longest;
  options.ird = 0;
  EXPECT_FALSE(fabric->connect(address_of("127.0.0.1", 1), client, options));
  options.ird = 1;
  start();
  EXPECT_EQ(peer.receive_startup().size(), 20u + 4 + 508);
}

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
  // A, and C: an RDMA Write of no octets as ready-to-receive message.
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

TEST_F(ResponderTest, ARequestOctetByOctetIsUnderstood) {
  peer.connect(listener->address());
  for (std::byte octet : wire::startup({.private_data = pattern(40)})) {
    peer.send({octet});
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
