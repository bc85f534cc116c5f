// How connections end, and what becomes of the calls.
#include "tests/support/listening_socket.h"
#include "tests/transport/tcp/channel_fixture.h"

namespace nfsrdma::test {
namespace {

bool is(const Error& error, net::Fault fault) {
  return error.is(Layer::fabric, static_cast<int>(fault));
}

class Loss : public TcpChannel {};

TEST_F(Loss, NothingListens) {
  UniqueFd unused =
      std::move(*net::make_listening_socket(net::resolve("127.0.0.1", 0, AF_INET)->front()));
  const auto address = net::local_address(unused.get());
  unused.reset();
  factory_ = std::move(*tcp::ChannelFactory::create(*reactor_, address, options_, *large_));
  auto made = factory_->connect(observer_);
  ASSERT_TRUE(made.has_value());
  channel_ = std::move(*made);
  run_until([&] { return observer_.downs == 1; });
  EXPECT_EQ(observer_.ups, 0);
  EXPECT_TRUE(is(*observer_.down_reason, net::Fault::refused));
}

// The same call, the same bytes, on the next connection (RFC 8881 section 2.9.2).
TEST_F(Loss, OpenCallsEndAndCanBeSentAgain) {
  connect();
  Buffer sink = data_->acquire();
  auto read = make_read(1, sink.first(100));
  auto other = make_call(2);
  submit(*read);
  submit(*other);
  await_messages(2);
  const Bytes reply = record(read_reply({.xid = 1, .data = pattern(100)}));
  server_.send(std::span(reply).first(150));  // in the middle of the data
  settle();
  server_.close();
  run_until([&] { return observer_.downs == 1; });
  EXPECT_EQ(observer_.closings, 1);
  EXPECT_TRUE(is(read->reply->error(), net::Fault::closed));
  EXPECT_TRUE(is(other->reply->error(), net::Fault::closed));
  EXPECT_EQ(read->losses.total, 1U);
  EXPECT_FALSE(read->isolated()) << "a closed connection is no call's fault";
  EXPECT_EQ(count("failed_calls"), 2U);

  connect();
  submit(*read);
  await_messages(3);
  EXPECT_EQ(server_.messages[2], server_.messages[0]);
  server_.send(reply);
  run_until([&] { return read->reply.has_value(); });
  EXPECT_TRUE(read->reply->has_value());
  EXPECT_TRUE(std::ranges::equal(sink.first(100), pattern(100)));
}

TEST_F(Loss, SubmittedWhileEnding) {
  connect();
  auto open = make_call(1);
  submit(*open);
  channel_->close(Error::local(0, "by the test"));
  EXPECT_EQ(observer_.closings, 1);
  auto late = make_call(2);
  submit(*late);
  EXPECT_EQ(done_, 0) << "never from within submit()";
  run_until([&] { return observer_.downs == 1; });
  EXPECT_EQ(done_, 2);
  EXPECT_TRUE(is(open->reply->error(), net::Fault::local_close));
  EXPECT_TRUE(is(late->reply->error(), net::Fault::local_close));
}

TEST_F(Loss, ClosedWhileConnecting) {
  channel_ = std::move(*factory_->connect(observer_));
  channel_->close(Error::local(0, "by the test"));
  run_until([&] { return observer_.downs == 1; });
  EXPECT_EQ(observer_.ups, 0);
}

// I4: what was being sent is let go of when the connection is gone.
TEST_F(Loss, InTheMiddleOfSending) {
  connect();
  Buffer data = data_->acquire();
  auto large = make_call(1);
  large->encoder.payload(data.bytes());
  auto behind = make_call(2);
  submit(*large);
  submit(*behind);
  EXPECT_EQ(count("partial_sends"), 2U);
  server_.close();
  run_until([&] { return observer_.downs == 1; });
  EXPECT_EQ(done_, 2);
  EXPECT_EQ(large->reply->error().layer, Layer::fabric);
  EXPECT_EQ(count("call_contexts_in_use"), 0U);
}

// A call that may have broken the last connection goes alone, so that no other call suffers for it.
TEST_F(Loss, AnIsolatedCallGoesAlone) {
  connect();
  auto isolated = make_call(1);
  auto other = make_call(2);
  submit(*isolated);
  server_.send(record(words({7, 7})));
  run_until([&] { return observer_.downs == 1; });
  ASSERT_TRUE(isolated->isolated());
  connect();
  submit(*isolated);
  submit(*other);
  server_.messages.clear();
  await_messages(1);
  settle();
  server_.receive();
  EXPECT_EQ(server_.messages.size(), 1U);
  server_.send(record(rpc_reply(1)));
  await_messages(2);
  server_.send(record(rpc_reply(2)));
  run_until([&] { return other->reply.has_value(); });
}

// The renewal of the lease does not wait until others have been tried by themselves.
TEST_F(Loss, WhatIsBlamelessIsNotIsolated) {
  connect();
  auto renewal = make_call(1);
  renewal->blameless = true;
  auto other = make_call(2);
  submit(*renewal);
  submit(*other);
  server_.send(record(words({7, 7})));
  run_until([&] { return observer_.downs == 1; });
  EXPECT_FALSE(renewal->isolated());
  EXPECT_TRUE(other->isolated());
}

TEST_F(Loss, ByTheEndInARecord) {
  connect();
  const Bytes reply = record(rpc_reply(1));
  server_.send(std::span(reply).first(10));
  settle();
  server_.close();
  run_until([&] { return observer_.downs == 1; });
  EXPECT_NE(observer_.down_reason->detail.find("in the middle of a record"), std::string::npos);
}

}  // namespace
}  // namespace nfsrdma::test
