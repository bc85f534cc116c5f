// Connecting, accepting, rejecting and closing, as fabric.h promises them.
#include <algorithm>
#include <filesystem>

#include "tests/transport/fabric/fabric_fixture.h"

namespace nfsrdma::fabric::testing {
namespace {

class ConnectionTest : public FabricTest {
 protected:
  /// The connection manager of InfiniBand and RoCE adds zeros.
  static void expect_private_data(Bytes seen, const Bytes& sent) {
    if (!GetParam().exact && seen.size() > sent.size()) {
      EXPECT_TRUE(std::all_of(seen.begin() + sent.size(), seen.end(),
                              [](std::byte byte) { return byte == std::byte{0}; }));
      seen.resize(sent.size());
    }
    EXPECT_EQ(seen, sent);
  }
};

TEST_P(ConnectionTest, BothSidesSeeThePrivateData) {
  const Bytes from_client = pattern(56, 1);
  const Bytes from_server = pattern(100, 2);
  options.private_data = from_client;
  acceptor.options.private_data = from_server;
  connect();
  expect_private_data(acceptor.private_data.back(), from_client);
  expect_private_data(client.peer_private_data, from_server);
}

TEST_P(ConnectionTest, ReadDepthsAreNegotiated) {
  options.ird = 5;
  options.ord = 40;
  acceptor.options.ird = 7;
  connect();
  EXPECT_EQ(client.ird, 5u);
  // siw does not report what its peer can take.
  EXPECT_TRUE(client.ord == 7u || (!GetParam().exact && client.ord < 7u)) << client.ord;
}

// A device is opened once for a process, and its events can be taken once.
TEST_P(ConnectionTest, TwoFabricsOnOneReactor) {
  connect();
  const auto second = GetParam().make(loop.reactor());
  if (BufferPool* memory = registered_memory()) {
    ASSERT_TRUE(second->register_pool(*memory));
  }
  End other;
  auto made = second->connect(listener->address(), other, options);
  ASSERT_TRUE(made) << made.error().message();
  other.endpoint = std::move(*made);
  other.post_all();
  ASSERT_TRUE(loop.until([&] { return other.established || other.down; }));
  ASSERT_TRUE(other.established) << other.down->message();
  ASSERT_TRUE(client.send(pattern(10, 1)));
  ASSERT_TRUE(other.send(pattern(20, 2)));
  auto& ends = acceptor.ends;
  ASSERT_TRUE(loop.until([&] { return !ends[0]->messages.empty() && !ends[1]->messages.empty(); }));
  EXPECT_EQ(ends[0]->messages[0].data, pattern(10, 1));
  EXPECT_EQ(ends[1]->messages[0].data, pattern(20, 2));
}

TEST_P(ConnectionTest, ARejectionReachesTheInitiator) {
  acceptor.reject_with = pattern(8);
  listen();
  auto made = fabric->connect(listener->address(), client, options);
  ASSERT_TRUE(made);
  client.endpoint = std::move(*made);
  ASSERT_TRUE(loop.until([&] { return client.down.has_value(); }));
  EXPECT_TRUE(client.down->is(Layer::fabric, static_cast<int>(Fault::rejected)));
  EXPECT_FALSE(client.established);
}

TEST_P(ConnectionTest, ADisconnectIsToldToBothOnce) {
  connect();
  client.endpoint->disconnect(Error::local(ECANCELED, "test"));
  client.endpoint->disconnect(Error::local(EIO, "ignored"));
  EXPECT_EQ(client.disconnects, 0);
  ASSERT_TRUE(loop.until([&] { return client.down && server().down; }));
  EXPECT_TRUE(client.down->is(Layer::local, ECANCELED));
  EXPECT_TRUE(server().down->is(Layer::fabric, static_cast<int>(Fault::closed)))
      << server().down->message();
  client.endpoint->disconnect(Error::local(EIO, "too late"));
  loop.settle();
  EXPECT_EQ(client.disconnects, 1);
  EXPECT_EQ(server().disconnects, 1);
  EXPECT_TRUE(client.all_receives_returned());
  EXPECT_TRUE(server().all_receives_returned());
}

TEST_P(ConnectionTest, DisconnectFromWithinAHandler) {
  connect();
  const Bytes data = pattern(10);
  server().on_message = [&](const End::Message&) {
    server().endpoint->disconnect(Error::local(ECANCELED, "test"));
    EXPECT_EQ(server().disconnects, 0);
  };
  ASSERT_TRUE(client.send(data));
  ASSERT_TRUE(client.send(data));
  ASSERT_TRUE(loop.until([&] { return client.down && server().down; }));
  EXPECT_EQ(server().messages.size(), 1u);
}

TEST_P(ConnectionTest, AnEndpointIsDisposedOfFromWithinOnDisconnected) {
  struct Disposer final : EndpointHandler {
    void on_established(const ConnectionInfo&) override { up = true; }
    void on_receive(ReceiveBuffer&, std::size_t, std::optional<std::uint32_t>) override {}
    void on_send_done(void*) override {}
    void on_invalidated(Lease&) override {}
    void on_read_done(void*) override {}
    void on_disconnected(const Error&) override {
      reactor->dispose(std::move(endpoint));
      down = true;
    }
    Reactor* reactor = nullptr;
    std::unique_ptr<Endpoint> endpoint;
    bool up = false;
    bool down = false;
  } disposer;
  disposer.reactor = &loop.reactor();
  listen();
  auto made = fabric->connect(listener->address(), disposer, options);
  ASSERT_TRUE(made);
  disposer.endpoint = std::move(*made);
  ASSERT_TRUE(loop.until([&] { return disposer.up; }));
  server().endpoint.reset();
  ASSERT_TRUE(loop.until([&] { return disposer.down; }));
  loop.settle();
}

TEST_P(ConnectionTest, WithoutItsListenerAConnectionLivesOn) {
  connect();
  const Address address = listener->address();
  listener.reset();
  const Bytes data = pattern(10);
  ASSERT_TRUE(client.send(data));
  ASSERT_TRUE(loop.until([&] { return !server().messages.empty(); }));
  End late;
  auto made = fabric->connect(address, late, options);
  ASSERT_TRUE(made);
  late.endpoint = std::move(*made);
  ASSERT_TRUE(loop.until([&] { return late.down.has_value(); }));
  EXPECT_TRUE(late.down->is(Layer::fabric, static_cast<int>(Fault::refused)));
}

TEST_P(ConnectionTest, AConnectionOutlivesItsFabric) {
  connect();
  listener.reset();
  fabric.reset();
  const Bytes data = pattern(10);
  ASSERT_TRUE(client.send(data));
  ASSERT_TRUE(loop.until([&] { return !server().messages.empty(); }));
}

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator entries("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
}

TEST_P(ConnectionTest, ManyConnectionsOneAfterTheOtherLeaveNothingBehind) {
  connect();
  const std::size_t before = open_descriptors();
  constexpr int rounds = 200;
  for (int i = 0; i < rounds; ++i) {
    End each(1);
    connect(each);
    each.endpoint->disconnect(Error::local(ECANCELED, "test"));
    ASSERT_TRUE(loop.until([&] { return each.down && server().down; }));
    acceptor.ends.pop_back();
  }
  EXPECT_EQ(open_descriptors(), before);
}

TEST_P(ConnectionTest, ManyConnectionsAtOnceDoNotMixUpMessages) {
  constexpr std::size_t many = 20;
  std::vector<std::unique_ptr<End>> clients;
  listen();
  for (std::size_t i = 0; i < many; ++i) {
    clients.push_back(std::make_unique<End>());
    connect(*clients.back());
  }
  std::vector<Bytes> data;
  for (std::size_t i = 0; i < many; ++i) data.push_back(pattern(100 + i, i));
  for (std::size_t i = 0; i < many; ++i) ASSERT_TRUE(clients[i]->send(data[i]));
  for (std::size_t i = 0; i < many; ++i) {
    ASSERT_TRUE(loop.until([&] { return !acceptor.ends[i]->messages.empty(); }));
    EXPECT_TRUE(acceptor.ends[i]->messages[0].data == data[i]) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Providers, ConnectionTest, ::testing::ValuesIn(chosen_providers()),
                         provider_name);

}  // namespace
}  // namespace nfsrdma::fabric::testing
