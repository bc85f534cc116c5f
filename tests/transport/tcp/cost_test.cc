// What a call costs once warm: no allocation, no copy of a payload, one sendmsg.
#include "tests/transport/base/allocations.h"
#include "tests/transport/tcp/channel_fixture.h"

namespace nfsrdma::test {
namespace {

class Cost : public TcpChannel {
 protected:
  static constexpr std::size_t kBytes = 131072;
  static constexpr int kWarm = 4;

  void SetUp() override {
    TcpChannel::SetUp();
    connect();
    buffer_ = data_->acquire();
    call_ = make_call(1);
  }
  void TearDown() override {
    call_.reset();
    TcpChannel::TearDown();
    buffer_.reset();
  }
  /// One call and its reply, by nothing that allocates but the code under test.
  template <class Prepare>
  void once(Prepare prepare_call, const Bytes& reply) {
    prepare(*call_, 1);
    prepare_call(*call_);
    submit(*call_);
    server_.send(reply);
    while (!call_->reply) reactor_->run_once(std::chrono::milliseconds(1));
  }
  template <class Prepare>
  std::size_t allocations_of(Prepare prepare_call, const Bytes& reply) {
    for (int i = 0; i < kWarm; ++i) {
      once(prepare_call, reply);
      drain();
    }
    const auto writes = count("write_calls");
    const auto sends = count("sends");
    const auto before = testing_support::allocations();
    once(prepare_call, reply);
    const auto made = testing_support::allocations() - before;
    EXPECT_TRUE(call_->reply->has_value());
    EXPECT_EQ(count("write_calls") - writes, 1U);
    EXPECT_EQ(count("sends") - sends, 1U);
    EXPECT_EQ(count("payload_copies"), 0U);
    drain();
    return made;
  }
  void drain() {
    server_.receive();
    server_.messages.clear();
  }

  Buffer buffer_;
  std::unique_ptr<rpc::Call> call_;
};

TEST_F(Cost, AShortCall) {
  const auto reads = [&] { return count("read_calls"); };
  EXPECT_EQ(allocations_of([](rpc::Call&) {}, record(rpc_reply(1, pattern(200)))), 0U);
  drain();
  const auto before = reads();
  once([](rpc::Call&) {}, record(rpc_reply(1, pattern(200))));
  EXPECT_EQ(reads() - before, 1U);
}

TEST_F(Cost, ARead) {
  const auto prepare_read = [&](rpc::Call& call) {
    call.result_sink = buffer_.first(kBytes);
    call.locator = &client::kReadLocator;
  };
  const Bytes reply = record(read_reply({.xid = 1, .data = pattern(kBytes)}));
  EXPECT_EQ(allocations_of(prepare_read, reply), 0U);
}

TEST_F(Cost, ASmallReadTakesOneReceiveCall) {
  const auto prepare_read = [&](rpc::Call& call) {
    call.result_sink = buffer_.first(1000);
    call.locator = &client::kReadLocator;
  };
  const Bytes reply = record(read_reply({.xid = 1, .data = pattern(1000)}));
  EXPECT_EQ(allocations_of(prepare_read, reply), 0U);
  const auto before = count("read_calls");
  once(prepare_read, reply);
  EXPECT_EQ(count("read_calls") - before, 1U);
  EXPECT_EQ(count("payload_bytes_copied"), 1000 * count("replies"));
}

TEST_F(Cost, ALargeReadTakesTwoReceiveCalls) {
  const auto prepare_read = [&](rpc::Call& call) {
    call.result_sink = buffer_.first(kBytes);
    call.locator = &client::kReadLocator;
  };
  const Bytes reply = record(read_reply({.xid = 1, .data = pattern(kBytes)}));
  once(prepare_read, reply);
  EXPECT_EQ(count("payload_bytes_copied"), 0U);
}

TEST_F(Cost, AWrite) {
  const auto prepare_write = [&](rpc::Call& call) { call.encoder.payload(buffer_.first(kBytes)); };
  EXPECT_EQ(allocations_of(prepare_write, record(rpc_reply(1))), 0U);
}

TEST_F(Cost, CallsOfOneTurnTakeOneSendCall) {
  constexpr std::uint32_t kCalls = 8;
  std::vector<std::unique_ptr<rpc::Call>> calls;
  const auto writes = count("write_calls");
  for (std::uint32_t xid = 1; xid <= kCalls; ++xid) {
    calls.push_back(make_call(xid));
    submit(*calls.back());
  }
  await_messages(kCalls);
  EXPECT_EQ(count("write_calls") - writes, 1U);
  for (std::uint32_t xid = 1; xid <= kCalls; ++xid) server_.send(record(rpc_reply(xid)));
  run_until([&] { return done_ == kCalls; });
}

// The server has the first one before the second is made.
TEST_F(Cost, ALargeCallDoesNotWaitForTheEndOfTheTurn) {
  const auto writes = count("write_calls");
  prepare(*call_, 1);
  call_->encoder.payload(buffer_.first(kBytes));
  submit(*call_);
  EXPECT_GT(count("write_calls"), writes);
  await_messages(1);
  server_.send(record(rpc_reply(1)));
  run_until([&] { return call_->reply.has_value(); });
}

TEST_F(Cost, TheCounterCounts) {
  const auto before = testing_support::allocations();
  const Bytes some = pattern(100);
  EXPECT_GT(testing_support::allocations(), before);
}

}  // namespace
}  // namespace nfsrdma::test
