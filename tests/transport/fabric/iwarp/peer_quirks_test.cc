// What the provider remembers of a peer from one connection to the next.
#include "tests/transport/fabric/iwarp/negotiation_fixture.h"

namespace nfsrdma::fabric::testing {
namespace {

class PeerQuirksTest : public NegotiationTest {
 protected:
  /// One connection, which the peer ends with a Terminate of these two bytes. Returns the flags of
  /// the client's MPA Request.
  unsigned terminated(std::initializer_list<unsigned> code) {
    End client;
    const unsigned flags = connect(client);
    terminate(code);
    EXPECT_TRUE(loop.until([&] { return client.down.has_value(); }));
    EXPECT_TRUE(client.down->is(Layer::fabric, static_cast<int>(Fault::remote_terminate)));
    said = client.down->message();
    peer.close();
    return flags;
  }
  unsigned connect(End& client) {
    auto made = fabric->connect(peer.address(), client, options);
    EXPECT_TRUE(made) << made.error().message();
    client.endpoint = std::move(*made);
    client.post_all();
    peer.accept();
    const unsigned flags = flags_of(peer.receive_startup());
    peer.send(wire::startup(wire::Startup{.reply = true}));
    EXPECT_TRUE(loop.until([&] { return client.established; }));
    return flags;
  }
  void terminate(std::initializer_list<unsigned> code) {
    Bytes payload(4);
    std::size_t at = 0;
    for (const unsigned byte : code) payload[at++] = static_cast<std::byte>(byte);
    peer.send(wire::fpdu(wire::Segment{.opcode = wire::kTerminate, .qn = 2, .payload = payload}));
  }
  void SetUp() override { peer.listen("127.0.0.1"); }

  RawPeer peer{loop};
  std::string said;
};

// siw has layer 2 and type 0 in the wrong halves of the byte.
TEST_F(PeerQuirksTest, AfterACrcErrorInTheWordsOfSiwNoCrcIsAskedFor) {
  EXPECT_EQ(terminated({0x02, 0x02}), kS | kC);
  EXPECT_NE(said.find("siw"), std::string::npos) << said;
  EXPECT_EQ(terminated({0x02, 0x02}), kS);
}

// RFC 5040 section 4.8: what others report may be true.
TEST_F(PeerQuirksTest, AfterAProperCrcErrorItStillIs) {
  EXPECT_EQ(terminated({0x20, 0x02}), kS | kC);
  EXPECT_NE(said.find("CRC mismatch"), std::string::npos) << said;
  EXPECT_EQ(terminated({0x20, 0x02}), kS | kC);
}

TEST_F(PeerQuirksTest, OtherErrorsOfSiwChangeNothing) {
  EXPECT_EQ(terminated({0x21, 0x02}), kS | kC);
  EXPECT_EQ(terminated({0x21, 0x02}), kS | kC);
}

// A peer that closes with data unread resets the connection; what it said before is read
// nonetheless.
TEST_F(PeerQuirksTest, ATerminateBeforeAResetIsReadWhenAWriteMeetsTheReset) {
  End client;
  connect(client);
  terminate({0x02, 0x02});
  peer.reset();
  ASSERT_TRUE(client.send(Bytes(64)));
  ::testing::internal::CaptureStderr();
  const auto ended = loop.until([&] { return client.down.has_value(); });
  const std::string log = ::testing::internal::GetCapturedStderr();
  ASSERT_TRUE(ended);
  EXPECT_TRUE(client.down->is(Layer::fabric, static_cast<int>(Fault::remote_terminate)))
      << client.down->message();
  EXPECT_NE(log.find(peer.address().text() + ": Linux siw"), std::string::npos) << log;
}

TEST_F(PeerQuirksTest, AResetWithoutATerminateIsAReset) {
  End client;
  connect(client);
  peer.reset();
  ASSERT_TRUE(client.send(Bytes(64)));
  ASSERT_TRUE(loop.until([&] { return client.down.has_value(); }));
  EXPECT_TRUE(client.down->is(Layer::fabric, static_cast<int>(Fault::reset)))
      << client.down->message();
}

}  // namespace
}  // namespace nfsrdma::fabric::testing
