// Several clients, broken connections, and what must not be lost or left over.
#include <algorithm>

#include "tests/responder/responder_rig.h"

namespace nfsrdma::responder {
namespace {

constexpr std::uint32_t kConnectionsXid = 0x6001;

class ConnectionTest : public ResponderRig {
 protected:
  void disconnect(RawRequester& requester) {
    requester.endpoint().disconnect(Error::local(ECANCELED, "test"));
  }
  /// Everything the connections and calls had is back in its pool.
  void expect_nothing_in_use() {
    run_until([&] { return responder->connections() == 0; });
    run_until([&] { return pools.data->available() == pools.data->slots(); });
    run_until([&] { return pools.messages->available() == pools.messages->slots(); });
    EXPECT_EQ(service.closed, static_cast<int>(counters().connections.value()));
  }
};

// V1-8.1.1-1: each connection its own calls, XIDs and replies.
TEST_F(ConnectionTest, ClientsWithTheSameXidsDoNotMix) {
  std::vector<RawRequester*> clients;
  for (int i = 0; i < 8; ++i) clients.push_back(&connect());
  service.on_call = [](ServerCall& call) {
    call.results().u32(call.arguments().u32("word"));
    call.reply(rpc::AcceptStat::success);
  };
  for (std::uint32_t round = 0; round < 20; ++round) {
    for (std::uint32_t i = 0; i < clients.size(); ++i) {
      clients[i]->send(assemble(message_header(kConnectionsXid),
                                rpc_call(kConnectionsXid, words({round * 100 + i}))));
    }
    for (std::uint32_t i = 0; i < clients.size(); ++i) {
      const auto reply = next_reply(*clients[i]);
      auto results = reply.results();
      ASSERT_TRUE(results);
      EXPECT_EQ(results->u32("word"), round * 100 + i);
    }
  }
  EXPECT_EQ(counters().connections.value(), 8U);
}

TEST_F(ConnectionTest, ConnectionsBeyondTheLimitAreRejected) {
  ResponderConfig config;
  config.max_connections = 2;
  start(config);
  service.on_call = [](ServerCall& call) {
    call.connection().serves_session = true;
    call.reply(rpc::AcceptStat::success);
  };
  EXPECT_TRUE(exchange(connect(), plain_call(kConnectionsXid)).results());
  EXPECT_TRUE(exchange(connect(), plain_call(kConnectionsXid)).results());
  requesters.push_back(std::make_unique<RawRequester>(*fabric, address, sizes(4096, 4096), 1));
  auto& third = *requesters.back();
  run_until([&] { return third.down(); });
  EXPECT_EQ(counters().connections_rejected.value(), 1U);
  disconnect(*requesters[0]);
  run_until([&] { return responder->connections() == 1; });
  EXPECT_TRUE(exchange(connect(), plain_call(kConnectionsXid)).results());
}

// I1, I4, I5, V1-2.3.2-3: many connections one after another leave nothing behind (U14).
TEST_F(ConnectionTest, ConnectAndDisconnectLeavesNothing) {
  for (int i = 0; i < 100; ++i) {
    auto& requester = connect();
    EXPECT_TRUE(exchange(requester, plain_call(kConnectionsXid)).results());
    disconnect(requester);
    run_until([&] { return requester.down(); });
    requesters.clear();
  }
  expect_nothing_in_use();
}

// V1-4.5.5-2: a new connection begins at one credit and with new thresholds.
TEST_F(ConnectionTest, NewConnectionBeginsAnew) {
  auto& first = connect(sizes(4096, 4096));
  EXPECT_EQ(exchange(first, plain_call(kConnectionsXid)).header.rdma_credit, 16U);
  disconnect(first);
  run_until([&] { return responder->connections() == 0; });
  auto& second = connect(std::nullopt);
  EXPECT_EQ(exchange(second, words({kConnectionsXid, 9, 1, 0, 0, 0, 0})).header.rdma_credit, 1U);
  service.on_call = [](ServerCall& call) {
    call.results().reserve(2000);
    call.reply(rpc::AcceptStat::success);
  };
  expect_error(second, plain_call(kConnectionsXid), rdma::ERR_CHUNK);
}

// The client goes while the service has its call; the later answer does no harm (I4).
TEST_F(ConnectionTest, AnswerAfterTheConnectionHasGoneIsDropped) {
  auto& requester = connect();
  std::vector<ServerCall*> open;
  std::span<const std::byte> argument;
  service.on_call = [&](ServerCall& call) {
    argument = call.arguments().opaque(64, "name");
    call.scratch(100);
    open.push_back(&call);
  };
  Bytes arguments = words({8});
  const auto name = pattern(8);
  arguments.insert(arguments.end(), name.begin(), name.end());
  requester.send(assemble(message_header(kConnectionsXid), rpc_call(kConnectionsXid, arguments)));
  run_until([&] { return open.size() == 1; });
  disconnect(requester);
  run_until([&] { return service.closed == 1; });
  // The service's arguments are still there.
  EXPECT_EQ(Bytes(argument.begin(), argument.end()), name);
  open[0]->results().u32(1);
  open[0]->reply(rpc::AcceptStat::success);
  EXPECT_EQ(counters().calls_dropped.value(), 1U);
  expect_nothing_in_use();
}

// The connection breaks while Read chunks are being pulled.
TEST_F(ConnectionTest, ConnectionLostDuringAPullLeavesNothing) {
  auto& requester = connect();
  const auto data = pattern(1 << 20);
  auto& memory = requester.expose(data.size(), fabric::Access::remote_read);
  rdma::Header header = message_header(kConnectionsXid);
  header.chunks.add_read(static_cast<std::uint32_t>(rpc_call(kConnectionsXid).size() + 4),
                         memory.segment());
  requester.send(assemble(header, rpc_call(kConnectionsXid, words({1 << 20}))));
  run_until([&] { return counters().rdma_read_bytes.value() > 0; });
  disconnect(requester);
  expect_nothing_in_use();
}

// V1-8.1.1-1, V1-4.5.3-1, V1-4.5.3-4, F-25: a handle that is not the connection's ends it; the same
// call on a new connection is answered ERR_CHUNK, other calls are served.
TEST_F(ConnectionTest, CallThatBrokeItsConnectionIsRefusedOnTheNext) {
  auto& requester = connect();
  auto& owner = connect();
  const auto segment = owner.expose(64, fabric::Access::remote_read).segment();
  owner.send(plain_call(kConnectionsXid));
  rdma::Header header = message_header(kConnectionsXid + 5);
  header.chunks.add_read(static_cast<std::uint32_t>(rpc_call(kConnectionsXid).size() + 4), segment);
  const auto message = assemble(header, rpc_call(kConnectionsXid + 5, words({64})));
  requester.send(message);
  run_until([&] { return requester.down(); });
  auto& second = connect();
  expect_error(second, message, rdma::ERR_CHUNK);
  EXPECT_EQ(counters().repeated_failures.value(), 1U);
  EXPECT_TRUE(exchange(second, plain_call(kConnectionsXid + 6)).results());
  EXPECT_TRUE(next_reply(owner).results());
}

// V1-4.5.3-1, V1-4.5.3-4: the same for RDMA Writes.
TEST_F(ConnectionTest, WriteToABadHandleIsRememberedToo) {
  auto& requester = connect();
  service.on_call = [](ServerCall& call) {
    call.results().payload(call.scratch(64));
    call.reply(rpc::AcceptStat::success);
  };
  rdma::Header header = message_header(kConnectionsXid);
  header.chunks.add_write()->add({0x12345678, 64, 0});
  const auto message = assemble(header, rpc_call(kConnectionsXid));
  requester.send(message);
  run_until([&] { return requester.down(); });
  expect_error(connect(), message, rdma::ERR_CHUNK);
}

TEST_F(ConnectionTest, ClosingWaitsForAllConnections) {
  connect();
  connect();
  bool closed = false;
  responder->close([&] { closed = true; });
  run_until([&] { return closed; });
  EXPECT_EQ(responder->connections(), 0U);
  bool closed_again = false;
  responder->close([&] { closed_again = true; });
  run_until([&] { return closed_again; });
}

// A responder that is destroyed with calls open at the service.
TEST_F(ConnectionTest, DestructionWithOpenCallsLeavesNothing) {
  auto& requester = connect();
  ServerCall* open = nullptr;
  service.on_call = [&](ServerCall& call) { open = &call; };
  requester.send(plain_call(kConnectionsXid));
  run_until([&] { return open != nullptr; });
  responder->abort();
  EXPECT_EQ(service.closed, 1);
  open->drop();
  responder.reset();
  EXPECT_EQ(pools.messages->available(), pools.messages->slots());
  run_until([&] { return requester.down(); });
}

// More calls with chunks than there are buffers: the rest waits and is served.
TEST_F(ConnectionTest, CallsWaitForDataBuffers) {
  auto& requester = connect();
  std::vector<Buffer> taken;
  const auto data = pattern(64);
  auto& memory = requester.expose(data.size(), fabric::Access::remote_read);
  std::copy(data.begin(), data.end(), memory.memory().begin());
  EXPECT_TRUE(exchange(requester, plain_call(kConnectionsXid)).results());
  while (pools.data->available() > 1) taken.push_back(pools.data->acquire());
  std::vector<ServerCall*> open;
  service.on_call = [&](ServerCall& call) {
    const auto payload = call.arguments().payload(64, "data");
    EXPECT_EQ(Bytes(payload.data.begin(), payload.data.end()), data);
    open.push_back(&call);
  };
  for (std::uint32_t i = 0; i < 5; ++i) {
    rdma::Header header = message_header(kConnectionsXid + i);
    header.chunks.add_read(static_cast<std::uint32_t>(rpc_call(kConnectionsXid).size() + 4),
                           memory.segment());
    requester.send(assemble(header, rpc_call(kConnectionsXid + i, words({64}))));
  }
  for (std::size_t i = 0; i < 5; ++i) {
    run_until([&] { return open.size() == i + 1; });
    open[i]->reply(rpc::AcceptStat::success);
    EXPECT_TRUE(next_reply(requester).results());
  }
  EXPECT_EQ(counters().waits_for_memory.value(), 4U);
}

// A client that does not answer RDMA Reads leaves buffers to others, and is let go in the end.
TEST_F(ConnectionTest, AClientThatDoesNotAnswerReadsHoldsUpNobody) {
  constexpr std::uint32_t kCalls = 3 * kPullsOfConnection;
  ResponderConfig config;
  config.read_patience = std::chrono::milliseconds(500);
  start(config);
  const auto data = pattern(64);
  const auto call_with_chunk = [&](RawRequester& requester, std::uint32_t xid) {
    auto& memory = requester.expose(data.size(), fabric::Access::remote_read);
    rdma::Header header = message_header(xid, 64);
    header.chunks.add_read(static_cast<std::uint32_t>(rpc_call(xid).size() + 4), memory.segment());
    requester.send(assemble(header, rpc_call(xid, words({64}))));
  };
  auto& busy = connect();
  // Its reactor does not run any more once it has sent.
  auto own_reactor = make_epoll_reactor();
  const auto own_fabric = fabric::make_iwarp_fabric(*own_reactor);
  RawRequester silent(*own_fabric, address, sizes(4096, 4096), 64);
  run_until([&] {
    own_reactor->run_once(Duration::zero());
    return silent.up();
  });
  for (std::uint32_t i = 0; i < kCalls; ++i) call_with_chunk(silent, kConnectionsXid + i);
  while (own_reactor->run_once(Duration::zero())) {
  }
  run_until([&] { return counters().waits_for_memory.value() == kCalls - kPullsOfConnection; });
  EXPECT_EQ(pools.data->available(), pools.data->slots() - kPullsOfConnection);
  for (std::uint32_t i = 0; i < kCalls; ++i) {
    call_with_chunk(busy, kConnectionsXid + i);
    EXPECT_TRUE(next_reply(busy).results());
  }
  run_until([&] { return service.closed == 1; });
  EXPECT_EQ(pools.data->available(), pools.data->slots());
  EXPECT_TRUE(busy.up());
}

// More calls than may pull at a time: each has its turn.
TEST_F(ConnectionTest, CallsBeyondThoseThatMayPullWaitForTheirTurn) {
  constexpr std::uint32_t kCalls = 3 * kPullsOfConnection;
  auto& requester = connect();
  std::vector<ServerCall*> open;
  service.on_call = [&](ServerCall& call) { open.push_back(&call); };
  auto& memory = requester.expose(64, fabric::Access::remote_read);
  for (std::uint32_t i = 0; i < kCalls; ++i) {
    rdma::Header header = message_header(kConnectionsXid + i, 64);
    header.chunks.add_read(static_cast<std::uint32_t>(rpc_call(kConnectionsXid).size() + 4),
                           memory.segment());
    requester.send(assemble(header, rpc_call(kConnectionsXid + i, words({64}))));
  }
  run_until([&] { return open.size() == kCalls; });
  for (ServerCall* call : open) call->reply(rpc::AcceptStat::success);
  for (std::uint32_t i = 0; i < kCalls; ++i) EXPECT_TRUE(next_reply(requester).results());
}

// Clients with a session stay; one without makes room for the next.
TEST_F(ConnectionTest, TheOldestWithoutASessionMakesRoom) {
  ResponderConfig config;
  config.max_connections = 3;
  start(config);
  service.on_call = [](ServerCall& call) {
    call.connection().serves_session = true;
    call.reply(rpc::AcceptStat::success);
  };
  auto& holder = connect();
  EXPECT_TRUE(exchange(holder, plain_call(kConnectionsXid)).results());
  auto& idle = connect();
  auto& later = connect();
  for (int i = 0; i < 2; ++i)
    EXPECT_TRUE(exchange(connect(), plain_call(kConnectionsXid)).results());
  run_until([&] { return idle.down() && later.down(); });
  EXPECT_TRUE(exchange(holder, plain_call(kConnectionsXid + 1)).results());
  EXPECT_EQ(counters().connections_rejected.value(), 0U);
}

TEST_F(ConnectionTest, ServesIPv6) {
  start();
  auto local = fabric::resolve("::1", 0, AF_INET6);
  if (!local) GTEST_SKIP() << "no IPv6 here";
  auto bound = responder->listen(local->front());
  if (!bound) GTEST_SKIP() << bound.error().message();
  address = *bound;
  EXPECT_TRUE(exchange(connect(), plain_call(kConnectionsXid)).results());
}

}  // namespace
}  // namespace nfsrdma::responder
