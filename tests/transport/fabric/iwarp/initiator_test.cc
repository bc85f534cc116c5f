// MPA startup as initiator, against a raw socket that answers.
#include <fmt/core.h>

#include "tests/transport/fabric/iwarp/negotiation_fixture.h"

namespace nfsrdma::fabric::testing {
namespace {

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

TEST_F(InitiatorTest, AReplyThatArrivesByteByByteIsAccepted) {
  start();
  peer.receive_startup();
  wire::Startup reply;
  reply.reply = true;
  reply.private_data = pattern(5);
  for (std::byte byte : wire::startup(reply)) {
    peer.send({byte});
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
  peer.received.resize(48);  // a probe may have come behind it
  const bool zero_field = std::all_of(peer.received.end() - 4, peer.received.end(),
                                      [](std::byte byte) { return byte == std::byte{0}; });
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
  expect_down(Fault::closed, "after 0 bytes");
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

}  // namespace
}  // namespace nfsrdma::fabric::testing
