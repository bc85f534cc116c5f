// The probe for a peer that overlooks the first FPDU: when it comes, and what it is on the wire.
#include <vector>

#include "tests/support/virtual_reactor.h"
#include "tests/transport/fabric/iwarp/negotiation_fixture.h"
#include "transport/fabric/iwarp/peer_probe.h"

namespace nfsrdma::fabric::testing {
namespace {

using namespace std::chrono_literals;
using iwarp::PeerProbe;

class PeerProbeTest : public ::testing::Test {
 protected:
  VirtualReactor reactor;
  std::vector<Duration> at;
  const TimePoint start = reactor.now();
  PeerProbe probe{reactor, [this] { at.push_back(reactor.now() - start); }};
};

TEST_F(PeerProbeTest, NothingIsSentBeforeTheFirstMessage) {
  reactor.advance(1h);
  EXPECT_TRUE(at.empty());
}

TEST_F(PeerProbeTest, ComesLessAndLessOftenAndThenNoMore) {
  probe.expect_answer();
  reactor.advance(1h);
  EXPECT_EQ(at, (std::vector<Duration>{20ms, 60ms, 140ms, 300ms, 620ms, 1260ms, 2540ms}));
}

TEST_F(PeerProbeTest, FurtherMessagesDoNotPutItOff) {
  probe.expect_answer();
  reactor.advance(15ms);
  probe.expect_answer();
  reactor.advance(10ms);
  EXPECT_EQ(at.size(), 1u);
}

TEST_F(PeerProbeTest, AnAnswerEndsItForGood) {
  probe.expect_answer();
  reactor.advance(70ms);
  probe.stop();
  probe.expect_answer();
  reactor.advance(1h);
  EXPECT_EQ(at.size(), 2u);
}

class ProbedPeerTest : public NegotiationTest {
 protected:
  void SetUp() override {
    peer.listen("127.0.0.1");
    auto made = fabric->connect(peer.address(), client, options);
    ASSERT_TRUE(made) << made.error().message();
    client.endpoint = std::move(*made);
    client.post_all();
    peer.accept();
    peer.receive_startup();
    peer.send(wire::startup(wire::Startup{.reply = true}));
    ASSERT_TRUE(loop.until([&] { return client.established; }));
  }

  RawPeer peer{loop};
  End client;
};

// RFC 5040 section 5.1: an RDMA Write of no bytes names no memory, and RPC-over-RDMA sees nothing
// of it.
TEST_F(ProbedPeerTest, ASilentPeerGetsAnRdmaWriteOfNoBytesBehindTheSend) {
  ASSERT_TRUE(client.send(pattern(30)));
  peer.receive_fpdus(3);
  EXPECT_EQ(peer.fpdus[0].opcode, wire::kSend);
  for (std::size_t i : {1u, 2u}) {
    EXPECT_EQ(peer.fpdus[i].opcode, wire::kWrite);
    EXPECT_TRUE(peer.fpdus[i].tagged);
    EXPECT_TRUE(peer.fpdus[i].last);
    EXPECT_TRUE(peer.fpdus[i].payload.empty());
  }
  EXPECT_GE(client.counter("peer_probes"), 2u);
  peer.send(wire::send(1, pattern(8)));
  ASSERT_TRUE(loop.until([&] { return !client.messages.empty(); }));
  EXPECT_FALSE(client.down);
  EXPECT_EQ(client.sends_done.size(), 1u);
}

}  // namespace
}  // namespace nfsrdma::fabric::testing
