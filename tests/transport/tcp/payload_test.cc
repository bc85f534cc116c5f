// Data of READ and WRITE: straight to where it is wanted, and from where it lies.
#include "tests/transport/tcp/channel_fixture.h"
#include "transport/tcp/receive_path.h"

namespace nfsrdma::test {
namespace {

class PayloadTest : public TcpChannel {
 protected:
  static constexpr std::byte kUntouched{0x5A};

  void SetUp() override {
    TcpChannel::SetUp();
    connect();
    buffer_ = data_->acquire();
  }
  void TearDown() override {
    TcpChannel::TearDown();
    buffer_.reset();
  }
  std::span<std::byte> sink(std::size_t size) {
    std::fill_n(buffer_.data(), size + 64, kUntouched);
    return buffer_.first(size);
  }
  /// The data of a READ reply, as the client would decode it.
  xdr::Payload data_of(rpc::Call& call) {
    xdr::Decoder& in = (*call.reply)->results;
    in.u32("status");
    in.opaque(4096, "tag");
    in.raw(4 + 8 + 36 + 8 + 8 + 4, "resarray to eof");
    return in.payload(kLarge, "data");
  }
  void expect_placed(rpc::Call& call, const Bytes& data, std::size_t sink_size) {
    ASSERT_TRUE(call.reply->has_value()) << call.reply->error().message();
    const auto payload = data_of(call);
    EXPECT_TRUE((*call.reply)->results.finish("READ").has_value());
    EXPECT_TRUE(payload.placed);
    EXPECT_EQ(payload.data.data(), buffer_.data());
    ASSERT_TRUE(std::ranges::equal(payload.data, data));
    for (std::size_t i = data.size(); i < sink_size + 64; ++i) {
      ASSERT_EQ(buffer_.data()[i], kUntouched) << i;
    }
    EXPECT_EQ(count("payload_copies"), 0U);
  }

  Buffer buffer_;
};

/// A small sink is filled by copying, a large one straight from the socket.
class SinkTest : public PayloadTest, public ::testing::WithParamInterface<std::size_t> {};

TEST_P(SinkTest, IsFilledHoweverTheReplyIsCut) {
  const Bytes data = pattern(61, 3);
  const Bytes bytes = record(read_reply({.xid = 1, .data = data}));
  for (std::size_t cut = 1; cut < bytes.size(); ++cut) {
    done_ = 0;
    auto call = make_read(1, sink(GetParam()));
    submit(*call);
    server_.send(std::span(bytes).first(cut));
    settle();
    EXPECT_EQ(done_, 0);
    server_.send(std::span(bytes).subspan(cut));
    run_until([&] { return done_ == 1; });
    expect_placed(*call, data, GetParam());
  }
  EXPECT_EQ(count("payload_bytes_copied") > 0, GetParam() <= tcp::kCopyAtMost);
}

TEST_P(SinkTest, IsFilledFromFragments) {
  const Bytes data = pattern(61, 3);
  const Bytes message = read_reply({.xid = 1, .data = data});
  for (std::size_t longest = 1; longest < message.size(); ++longest) {
    done_ = 0;
    auto call = make_read(1, sink(GetParam()));
    submit(*call);
    server_.send(fragments(message, longest));
    run_until([&] { return done_ == 1; });
    expect_placed(*call, data, GetParam());
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, SinkTest, ::testing::Values(61, 80, tcp::kCopyAtMost + 1),
                         [](const auto& size) { return std::to_string(size.param); });

TEST_F(PayloadTest, IsPlacedBehindAVerifierAndATag) {
  const Bytes data = pattern(500);
  for (std::size_t verifier : {0U, 5U, 400U}) {
    for (std::size_t tag : {0U, 3U, 200U}) {
      done_ = 0;
      auto call = make_read(1, sink(500));
      submit(*call);
      server_.send(record(read_reply({.xid = 1, .data = data, .verifier = verifier, .tag = tag})));
      run_until([&] { return done_ == 1; });
      expect_placed(*call, data, 500);
    }
  }
}

TEST_F(PayloadTest, AMegabyte) {
  const Bytes data = pattern(kLarge - 3, 1);
  auto call = make_read(1, sink(kLarge));
  submit(*call);
  const Bytes bytes = record(read_reply({.xid = 1, .data = data}));
  for (std::size_t at = 0; at < bytes.size(); at += 50000) {
    server_.send(std::span(bytes).subspan(at, std::min<std::size_t>(50000, bytes.size() - at)));
    settle();
  }
  run_until([&] { return done_ == 1; });
  expect_placed(*call, data, kLarge);
}

TEST_F(PayloadTest, SeveralRepliesAtOnce) {
  const Bytes data = pattern(1000);
  std::vector<std::unique_ptr<rpc::Call>> calls;
  Bytes bytes;
  std::fill_n(buffer_.data(), 10 * 1024, kUntouched);
  for (std::uint32_t xid = 1; xid <= 10; ++xid) {
    // Every third is another call, so that short replies come in front of long ones.
    calls.push_back(xid % 3 == 0 ? make_call(xid)
                                 : make_read(xid, buffer_.bytes().subspan(xid * 1024, 1000)));
    append(bytes, record(xid % 3 == 0 ? rpc_reply(xid) : read_reply({.xid = xid, .data = data})));
    submit(*calls.back());
  }
  server_.send(bytes);
  run_until([&] { return done_ == 10; });
  for (std::uint32_t xid = 1; xid <= 10; ++xid) {
    ASSERT_TRUE(calls[xid - 1]->reply->has_value());
    if (xid % 3 == 0) continue;
    EXPECT_TRUE(std::equal(data.begin(), data.end(), buffer_.data() + xid * 1024));
  }
  EXPECT_EQ(count("payload_copies"), 0U);
}

TEST_F(PayloadTest, NoneAndEmpty) {
  auto failed = make_read(1, sink(100));
  submit(*failed);
  // SEQUENCE fails: nothing else is in the reply.
  server_.send(record(rpc_reply(1, words({10008, 0, 1, 53, 10008}))));
  run_until([&] { return done_ == 1; });
  ASSERT_TRUE(failed->reply->has_value());
  EXPECT_EQ((*failed->reply)->results.u32("status"), 10008U);

  auto empty = make_read(2, sink(100));
  submit(*empty);
  server_.send(record(read_reply({.xid = 2})));
  run_until([&] { return done_ == 2; });
  expect_placed(*empty, {}, 100);
}

TEST_F(PayloadTest, ResultsBehindTheData) {
  auto call = make_read(1, sink(100));
  submit(*call);
  server_.send(record(read_reply({.xid = 1, .data = pattern(9), .trailer = words({77})})));
  run_until([&] { return done_ == 1; });
  EXPECT_TRUE(std::ranges::equal(data_of(*call).data, pattern(9)));
  EXPECT_EQ((*call->reply)->results.u32("trailer"), 77U);
}

// The server says more than was asked for, or less than it sends: the connection ends, and after
// the second time the call is not sent again.
TEST_F(PayloadTest, WrongLengthsEndTheConnection) {
  const ReadReply wrong[] = {{.xid = 1, .data = pattern(101)},
                             {.xid = 1, .data = pattern(40), .claimed = 90}};
  for (const auto& reply : wrong) {
    auto call = make_read(1, sink(100));
    auto bystander = make_call(2);
    for (int loss = 1; loss <= 2; ++loss) {
      connect();
      submit(*call);
      submit(*bystander);
      server_.send(record(read_reply(reply)));
      run_until([&] { return observer_.downs == 1; });
      EXPECT_TRUE(call->reply->error().is(Layer::fabric, static_cast<int>(net::Fault::protocol)));
      EXPECT_EQ(call->losses.same_fault, static_cast<std::uint32_t>(loss));
      EXPECT_EQ(bystander->losses.same_fault, 0U) << "only the call whose reply it was is blamed";
      for (std::size_t i = 100; i < 164; ++i) EXPECT_EQ(buffer_.data()[i], kUntouched);
    }
    EXPECT_TRUE(call->is_poison());
  }
}

TEST_F(PayloadTest, ArgumentsAreSentFromWhereTheyLie) {
  for (std::size_t size : {1U, 4U, 4097U, 100001U}) {
    const Bytes data = pattern(size, 9);
    std::copy(data.begin(), data.end(), buffer_.data());
    auto call = make_call(1);
    const std::size_t before = call->encoder.size();
    call->encoder.payload(buffer_.first(size));
    call->encoder.u32(0x600D);
    submit(*call);
    server_.messages.clear();
    await_messages(1);
    const Bytes& message = server_.messages[0];
    ASSERT_EQ(message.size(), before + 4 + xdr::padded(size) + 4);
    xdr::Decoder in(message);
    in.raw(before, "head");
    EXPECT_TRUE(std::ranges::equal(in.opaque(size, "data"), data));
    EXPECT_EQ(in.u32("behind"), 0x600DU);
    server_.send(record(rpc_reply(1)));
    run_until([&] { return call->reply.has_value(); });
  }
}

// I4: a call keeps its memory until the kernel has all of it, even when the reply is there.
TEST_F(PayloadTest, AnEarlyReplyDoesNotEndACallThatIsBeingSent) {
  auto call = make_call(1);
  call->encoder.payload(buffer_.bytes());  // more than the kernel takes at once
  submit(*call);
  EXPECT_EQ(count("partial_sends"), 1U);
  server_.send(record(rpc_reply(1)));
  run_until([&] { return count("replies") == 1; });
  settle();
  EXPECT_EQ(done_, 0);
  run_until([&] {
    server_.receive();
    return done_ == 1;
  });
  EXPECT_TRUE(call->reply->has_value());
  await_messages(1);
  EXPECT_GT(server_.messages[0].size(), buffer_.size());
}

// The end of a call that was answered before it was sent makes room for the next one, as any end.
TEST_F(PayloadTest, TheNextCallLeavesWhenOneThatWasAnsweredEarlyIsSent) {
  disconnect();
  options_.calls = 1;
  channel_.reset();
  make_factory();
  connect();
  auto early = make_call(1);
  early->encoder.payload(buffer_.bytes());  // more than the kernel takes at once
  auto next = make_call(2);
  submit(*early);
  submit(*next);
  ASSERT_GT(count("partial_sends"), 0U);
  server_.send(record(rpc_reply(1, words({0}))));
  run_until([&] { return count("replies") == 1; });
  EXPECT_EQ(done_, 0);
  await_messages(2);
  server_.send(record(rpc_reply(2, words({0}))));
  run_until([&] { return done_ == 2; });
}

// A locator that has to see more than lies before the data of a short reply.
TEST_F(PayloadTest, DataThatWasReadWithItsHeadStaysThere) {
  static const rpc::PayloadLocator kLate{
      .least_offset = kReadOffset + 8, .locate = [](std::span<const std::byte>) {
        return rpc::PayloadPlace{rpc::PayloadPlace::Kind::found, kReadOffset, 100};
      }};
  const Bytes data = pattern(100);
  auto call = make_read(1, sink(100));
  call->locator = &kLate;
  submit(*call);
  server_.send(record(read_reply({.xid = 1, .data = data})));
  run_until([&] { return done_ == 1; });
  ASSERT_TRUE(call->reply->has_value());
  const auto payload = data_of(*call);
  EXPECT_FALSE(payload.placed);
  EXPECT_TRUE(std::ranges::equal(payload.data, data));
}

// While data may come that must not be copied, less is read at once.
TEST_F(PayloadTest, AShortReplyBehindALargeReadTakesOneReceiveCall) {
  const std::size_t large = 2 * tcp::kCopyAtMost;
  auto call = make_read(1, sink(large));
  submit(*call);
  server_.send(record(read_reply({.xid = 1, .data = pattern(large)})));
  run_until([&] { return done_ == 1; });
  auto next = make_call(2);
  submit(*next);
  const auto before = count("read_calls");
  server_.send(record(rpc_reply(2, pattern(2000))));
  run_until([&] { return done_ == 2; });
  EXPECT_EQ(count("read_calls") - before, 1U);
}

}  // namespace
}  // namespace nfsrdma::test
