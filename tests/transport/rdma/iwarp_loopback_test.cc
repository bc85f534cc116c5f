// Requester and backward responder over the real iWARP provider, against a server of a few lines.
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <cstring>
#include <deque>

#include "tests/responder/fabric/listening_fabric.h"
#include "tests/transport/rdma/harness.h"
#include "transport/base/log.h"
#include "transport/rpc/message.h"

namespace nfsrdma::test {
namespace {

constexpr std::size_t kMessage = 4096;
constexpr std::size_t kMegabyte = 1U << 20;
constexpr std::size_t kReceives = 64;

/// Fetches the arguments of a Call, writes `result` into its Write chunk or Reply chunk, or sends
/// it inline, and answers. Takes one connection after another.
class TinyServer final : public fabric::ListenHandler, private fabric::EndpointHandler {
 public:
  TinyServer(Reactor& reactor, fabric::ListeningFabric& fabric) : reactor_(reactor) {
    sockaddr_in any{};
    any.sin_family = AF_INET;
    any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    fabric::Address local;
    std::memcpy(&local.storage, &any, sizeof any);
    local.length = sizeof any;
    auto listener = fabric.listen(local, *this);
    EXPECT_TRUE(listener.has_value());
    listener_ = std::move(*listener);
    for (auto& buffer : receives_) {
      storage_.emplace_back(kMessage);
      buffer.memory = storage_.back();
    }
  }

  fabric::Address address() const { return listener_->address(); }
  fabric::Endpoint& endpoint() { return *endpoint_; }
  void send(Bytes message, std::optional<std::uint32_t> invalidate = {}) {
    Bytes& kept = sent_.emplace_back(std::move(message));
    const std::span<const std::byte> piece = kept;
    fabric::SendWork work;
    work.pieces = {&piece, 1};
    work.invalidate = invalidate;
    EXPECT_TRUE(endpoint_->post_send(work).has_value());
  }

  Bytes result;             ///< of every Call
  bool invalidates = true;  ///< with its replies, the first handle of the Call
  bool answers = true;
  std::size_t withheld = 0;  ///< bytes of a result or long reply that are claimed, but not placed
  std::vector<Bytes> arguments;  ///< Read chunks fetched, Position Zero chunk included
  std::vector<std::unique_ptr<Seen>> calls;
  std::vector<std::unique_ptr<Seen>> backward_replies;
  int connections = 0;

 private:
  void on_connect_request(std::unique_ptr<fabric::ConnectRequest> request) override {
    const auto mine = rdma::encode_private_data(
        {.remote_invalidation = true, .send_size = kMessage, .receive_size = kMessage});
    fabric::EndpointOptions options;
    options.private_data = mine;
    if (endpoint_) reactor_.dispose(std::move(endpoint_));
    auto accepted = request->accept(*this, options);
    ASSERT_TRUE(accepted.has_value());
    endpoint_ = std::move(*accepted);
    ++connections;
    for (auto& buffer : receives_) ASSERT_TRUE(endpoint_->post_receive(buffer).has_value());
  }
  void on_established(const fabric::ConnectionInfo&) override {}
  void on_receive(fabric::ReceiveBuffer& buffer, std::size_t length,
                  std::optional<std::uint32_t>) override {
    auto seen = parse(Bytes(buffer.memory.begin(), buffer.memory.begin() + length));
    ASSERT_TRUE(endpoint_->post_receive(buffer).has_value());
    ASSERT_EQ(seen->fault, rdma::HeaderFault::none);
    const bool reply = seen->payload.size() > 8 && seen->payload[7] == std::byte{1};
    if (reply) {
      backward_replies.push_back(std::move(seen));
      return;
    }
    calls.push_back(std::move(seen));
    if (answers) fetch_arguments(*calls.back());
  }
  void fetch_arguments(const Seen& call) {
    pending_reads_ = call.header.chunks.read_count;
    for (const auto& entry : call.header.chunks.rdma_reads()) {
      arguments.emplace_back(entry.target.length);
      Bytes& into = fetched_.emplace_back(entry.target.length);
      ASSERT_TRUE(endpoint_->post_read(into, entry.target, &into).has_value());
    }
    if (pending_reads_ == 0) reply(call);
  }
  void on_read_done(void*) override {
    if (--pending_reads_ > 0) return;
    arguments.assign(fetched_.begin(), fetched_.end());
    reply(*calls.back());
  }
  void reply(const Seen& call) {
    rdma::Header header = call.header;
    std::optional<std::uint32_t> handle;
    if (call.header.chunks.read_count > 0) handle = header.chunks.read_entries[0].target.handle;
    header.chunks.read_count = 0;
    header.rdma_credit = 32;
    header.proc = rdma::RDMA_MSG;
    Bytes message = rpc_reply(header.rdma_xid);
    if (header.chunks.write_count > 0) {
      auto& target = header.chunks.write_entries[0].target[0];
      handle = target.handle;
      write(result, target);
      message = rpc_reply(header.rdma_xid, words({static_cast<std::uint32_t>(result.size())}));
      if (header.chunks.has_reply) header.chunks.rdma_reply.target[0].length = 0;
    } else if (header.chunks.has_reply) {
      auto& target = header.chunks.rdma_reply.target[0];
      handle = target.handle;
      message = rpc_reply(header.rdma_xid, result);
      write(message, target);
      message.clear();
      header.proc = rdma::RDMA_NOMSG;
    }
    send(encode(header, message), invalidates ? handle : std::nullopt);
  }
  void write(const Bytes& bytes, fabric::Segment& target) {
    const Bytes& kept = sent_.emplace_back(bytes);
    const std::span<const std::byte> piece = std::span(kept).first(bytes.size() - withheld);
    ASSERT_TRUE(endpoint_->post_write({&piece, 1}, target).has_value());
    target.length = static_cast<std::uint32_t>(bytes.size());
  }
  void on_send_done(void*) override {}
  void on_invalidated(fabric::Lease&) override {}
  void on_disconnected(const Error&) override {}

  Reactor& reactor_;
  std::unique_ptr<fabric::Listener> listener_;
  std::deque<Bytes> storage_;
  std::array<fabric::ReceiveBuffer, kReceives> receives_;
  std::unique_ptr<fabric::Endpoint> endpoint_;
  std::deque<Bytes> sent_;  // kept until the test ends: nothing of a Send may change
  std::deque<Bytes> fetched_;
  std::size_t pending_reads_ = 0;
};

class Loopback : public testing::Test, protected rpc::CallObserver {
 protected:
  void SetUp() override {
    log::set_level(log::Level::warning);
    reactor_ = make_epoll_reactor();
    heads_ = std::move(*BufferPool::create(64 * 1024, 8));
    data_ = std::move(*BufferPool::create(kMegabyte, 4));
    replies_ = std::move(*BufferPool::create(64 * 1024, 4));
    fabric_ = fabric::make_listening_iwarp_fabric(*reactor_);
    server_ = std::make_unique<TinyServer>(*reactor_, *fabric_);
    factory_ = std::move(
        *rdma::ChannelFactory::create(*reactor_, *fabric_, server_->address(), {}, *replies_));
    observer_.on_callback = [](rpc::BackwardCall& call) {
      call.results().u32(0x600D);
      call.answer(rpc::AcceptStat::success);
    };
    connect();
  }
  void TearDown() override {
    if (observer_.downs == 0) channel_->close(Error::local(0, "end of test"));
    run_until([&] { return observer_.downs == 1; });
    channel_.reset();
    server_.reset();
    fabric_.reset();
  }
  void connect() {
    observer_.ups = observer_.downs = 0;
    channel_ = std::move(*factory_->connect(observer_));
    run_until([&] { return observer_.ups + observer_.downs > 0; });
    ASSERT_EQ(observer_.ups, 1);
  }
  template <class Condition>
  void run_until(Condition condition) {
    for (int turns = 0; turns < 100000 && !condition(); ++turns) {
      reactor_->run_once(std::chrono::milliseconds(100));
    }
    EXPECT_TRUE(condition());
  }
  std::unique_ptr<rpc::Call> make_call(std::uint32_t xid, std::size_t bytes = kRpcCallHeader) {
    auto call = std::make_unique<rpc::Call>(heads_->acquire());
    call->reset(xid);
    rpc::Credential nobody;
    nobody.flavor = rpc::AuthFlavor::none;
    rpc::encode_call_header(call->encoder, xid, kTestProgram, 4, 1, nobody, {});
    while (call->encoder.size() < bytes) call->encoder.u32(0);
    call->max_reply = 64;
    return call;
  }
  void run(rpc::Call& call) {
    const int before = done_;
    call.observer = this;
    channel_->submit(call);
    run_until([&] { return done_ > before; });
  }
  void on_call_done(rpc::Call&) override { ++done_; }

  std::unique_ptr<Reactor> reactor_;
  std::unique_ptr<BufferPool> heads_;
  std::unique_ptr<BufferPool> data_;
  std::unique_ptr<BufferPool> replies_;
  std::unique_ptr<rdma::ChannelFactory> factory_;
  std::unique_ptr<fabric::ListeningFabric> fabric_;
  std::unique_ptr<TinyServer> server_;
  Observer observer_;
  std::unique_ptr<rpc::Channel> channel_;
  int done_ = 0;
};

// E-8797-3, E-8797-7: what both ends announced while connecting.
TEST_F(Loopback, ConnectsWithAgreedSizes) {
  EXPECT_EQ(channel_->limits().max_backward_reply, kMessage - rdma::kMinHeader);
  EXPECT_EQ(channel_->limits().max_backward_call, kMessage - rdma::kMinHeader);
}

// V1-3.5.1-1
TEST_F(Loopback, ShortCallAndReply) {
  auto call = make_call(1);
  run(*call);
  EXPECT_TRUE(call->reply->has_value());
  EXPECT_EQ(server_->calls.at(0)->payload.size(), kRpcCallHeader);
}

// V1-3.4.5-6, V1-2.3.2-5: a megabyte of argument is fetched by RDMA Read.
TEST_F(Loopback, ArgumentByReadChunk) {
  auto call = make_call(1);
  Buffer data = data_->acquire();
  const Bytes fill = pattern(kMegabyte - 3, 5);
  std::copy(fill.begin(), fill.end(), data.data());
  call->encoder.payload(data.first(fill.size()));
  run(*call);
  EXPECT_TRUE(call->reply->has_value());
  ASSERT_EQ(server_->arguments.size(), 1u);
  EXPECT_EQ(server_->arguments[0], fill);
}

// V1-2.3.2-4, V1-3.4.6-7, V1-3.4.6-9: a megabyte of result is there when the reply is, with and
// without remote invalidation (E-8797-5, E-8797-6), and nothing behind it is touched.
TEST_F(Loopback, ResultByWriteChunk) {
  for (bool invalidates : {true, false}) {
    server_->invalidates = invalidates;
    server_->result = pattern(kMegabyte - 7, 9);
    auto call = make_call(invalidates ? 1 : 2);
    Buffer sink = data_->acquire();
    std::fill(sink.bytes().begin(), sink.bytes().end(), std::byte{0x5A});
    call->result_sink = sink.first(kMegabyte - 7);
    run(*call);
    ASSERT_TRUE(call->reply->has_value());
    const auto payload = (*call->reply)->results.payload(kMegabyte, "data");
    EXPECT_TRUE(payload.placed);
    EXPECT_EQ(payload.data.data(), sink.data());
    EXPECT_TRUE(std::equal(payload.data.begin(), payload.data.end(), server_->result.begin(),
                           server_->result.end()));
    EXPECT_EQ(sink.bytes()[kMegabyte - 7], std::byte{0x5A});
  }
  EXPECT_EQ(counter(*channel_, "remote_invalidations"), 1u);
  EXPECT_EQ(counter(*channel_, "local_invalidations"), 1u);
}

// V1-3.4.6-7, F-9: a server that says it wrote a megabyte and placed one byte less, or nothing,
// does not get the memory's former content shown as file data: the connection ends instead.
TEST_F(Loopback, ResultThatWasNotPlacedIsNotShown) {
  for (const std::size_t withheld : {std::size_t{1}, kMegabyte}) {
    server_->withheld = withheld;
    server_->result = pattern(kMegabyte, 9);
    auto call = make_call(withheld == 1 ? 1 : 2);
    Buffer sink = data_->acquire();
    std::fill(sink.bytes().begin(), sink.bytes().end(), std::byte{0x5A});
    call->result_sink = sink.bytes();
    run(*call);
    ASSERT_FALSE(call->reply->has_value()) << withheld << " bytes were not placed";
    EXPECT_EQ(call->reply->error().layer, Layer::fabric);
    EXPECT_EQ(call->losses.same_fault, 1u) << "a second one fails the call for good";
    run_until([&] { return observer_.downs == 1; });
    channel_.reset();
    connect();
  }
  EXPECT_EQ(counter(*channel_, "unplaced_replies"), 2u);
}

TEST_F(Loopback, LongReplyThatWasPlacedByHalfIsNotRead) {
  server_->withheld = 10000;
  server_->result = pattern(20000, 3);
  auto call = make_call(1);
  call->max_reply = 32000;
  run(*call);
  ASSERT_FALSE(call->reply->has_value());
  EXPECT_EQ(call->reply->error().layer, Layer::fabric);
  EXPECT_EQ(counter(*channel_, "unplaced_replies"), 1u);
}

// V1-3.5.3-1, V1-3.5.3-3, V1-8.2.2-6
TEST_F(Loopback, LongCallAndLongReply) {
  server_->result = pattern(30000, 3);
  auto call = make_call(1, 20000);
  call->max_reply = 32000;
  run(*call);
  ASSERT_TRUE(call->reply->has_value());
  ASSERT_EQ(server_->arguments.size(), 1u);
  const auto encoded = call->encoder.encoded();
  EXPECT_EQ(server_->arguments[0], Bytes(encoded.begin(), encoded.end()));
  const auto results = (*call->reply)->results.raw(30000, "results");
  EXPECT_EQ(Bytes(results.begin(), results.end()), server_->result);
}

// BD-1, BD-16: a callback over the same connection.
TEST_F(Loopback, Callback) {
  auto call = make_call(1);
  run(*call);
  rdma::Header header;
  header.rdma_xid = 1;
  header.rdma_credit = 1;
  server_->send(encode(header, rpc_call(1)));
  run_until([&] { return !server_->backward_replies.empty(); });
  const auto& reply = *server_->backward_replies[0];
  EXPECT_EQ(reply.payload, words({1, 1, 0, 0, 0, 0, 0x600D}));
}

// V1-4.5.5-1, V1-8.1.1-1: the connection is lost with a READ open; the same call succeeds on the
// next one.
TEST_F(Loopback, LossAndReplay) {
  server_->answers = false;
  server_->result = pattern(50000);
  auto call = make_call(1);
  Buffer sink = data_->acquire();
  call->result_sink = sink.first(50000);
  call->observer = this;
  channel_->submit(*call);
  run_until([&] { return server_->calls.size() == 1; });
  server_->endpoint().disconnect(Error::local(0, "server restarts"));
  run_until([&] { return observer_.downs == 1; });
  ASSERT_EQ(done_, 1);
  EXPECT_EQ(call->reply->error().layer, Layer::fabric);

  server_->answers = true;
  channel_.reset();
  connect();
  run(*call);
  ASSERT_TRUE(call->reply->has_value());
  EXPECT_EQ(server_->calls.at(1)->payload, server_->calls.at(0)->payload);
  EXPECT_TRUE(std::equal(server_->result.begin(), server_->result.end(), sink.data()));
}

}  // namespace
}  // namespace nfsrdma::test
