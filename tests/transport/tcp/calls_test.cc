// Calls and replies over TCP.
#include "tests/transport/tcp/channel_fixture.h"

namespace nfsrdma::test {
namespace {

class Calls : public TcpChannel {
 protected:
  void SetUp() override {
    TcpChannel::SetUp();
    connect();
  }
  void answer(std::uint32_t xid, std::uint32_t result) {
    server_.send(record(rpc_reply(xid, words({result}))));
  }
  std::uint32_t result_of(rpc::Call& call) { return (*call.reply)->results.u32("result"); }
};

TEST_F(Calls, OneRecordEach) {
  auto call = make_call(7);
  submit(*call);
  await_messages(1);
  const auto encoded = call->encoder.encoded();
  EXPECT_EQ(server_.messages[0], Bytes(encoded.begin(), encoded.end()));
  answer(7, 42);
  run_until([&] { return done_ == 1; });
  ASSERT_TRUE(call->reply->has_value());
  EXPECT_EQ(result_of(*call), 42U);
  EXPECT_EQ(channel_->replies(), 1U);
  EXPECT_EQ(channel_->open_calls(), 0U);
}

// A reply costs one look for its XID and one at the queue.
TEST_F(Calls, CostOneLookup) {
  auto call = make_call(7);
  submit(*call);
  const auto lookups = count("xid_lookups");
  const auto pumps = count("pumps");
  answer(7, 42);
  run_until([&] { return done_ == 1; });
  EXPECT_EQ(count("xid_lookups"), lookups + 1);
  EXPECT_EQ(count("pumps"), pumps + 1);
}

TEST_F(Calls, RepliesInAnyOrder) {
  std::vector<std::unique_ptr<rpc::Call>> calls;
  for (std::uint32_t xid = 1; xid <= 5; ++xid) {
    calls.push_back(make_call(xid));
    submit(*calls.back());
  }
  await_messages(5);
  Bytes all;
  for (std::uint32_t xid : {3U, 5U, 1U, 2U, 4U}) append(all, record(rpc_reply(xid, words({xid}))));
  server_.send(all);
  run_until([&] { return done_ == 5; });
  for (std::uint32_t xid = 1; xid <= 5; ++xid) EXPECT_EQ(result_of(*calls[xid - 1]), xid);
}

TEST_F(Calls, SeveralFragments) {
  auto call = make_call(1);
  submit(*call);
  server_.send(fragments(rpc_reply(1, words({42})), 5, 1));
  run_until([&] { return done_ == 1; });
  EXPECT_EQ(result_of(*call), 42U);
  EXPECT_GT(count("fragments"), 5U);
}

// What no call waits for is dropped, whole, and the connection goes on.
TEST_F(Calls, UnknownXid) {
  auto call = make_call(1);
  submit(*call);
  server_.send(record(rpc_reply(99, pattern(20000))));
  answer(1, 42);
  answer(1, 43);
  run_until([&] { return done_ == 1; });
  EXPECT_EQ(result_of(*call), 42U);
  run_until([&] { return count("bad_xids") == 2; });
  EXPECT_EQ(observer_.downs, 0);
}

// Whatever its length: no memory is needed for it.
TEST_F(Calls, AnUnknownReplyMayBeLongerThanAnyCanBe) {
  auto call = make_call(1);
  submit(*call);
  const Bytes bytes = record(rpc_reply(99, Bytes(kLarge + kLarge / 2)));
  for (std::size_t at = 0; at < bytes.size(); at += 100000) {
    server_.send(std::span(bytes).subspan(at, std::min<std::size_t>(100000, bytes.size() - at)));
    settle();
  }
  answer(1, 42);
  run_until([&] { return done_ == 1; });
  ASSERT_TRUE(call->reply->has_value());
  EXPECT_EQ(result_of(*call), 42U);
}

// What has been read of the socket at once is more than one turn looks at.
TEST_F(Calls, ManyShortRecordsAtOnce) {
  auto call = make_call(1);
  submit(*call);
  Bytes bytes;
  for (std::uint32_t i = 0; i < 300; ++i) append(bytes, record(rpc_reply(1000 + i)));
  append(bytes, record(rpc_reply(1, words({42}))));
  server_.send(bytes);
  run_until([&] { return done_ == 1; });
  ASSERT_TRUE(call->reply);
  EXPECT_EQ(result_of(*call), 42U);
  EXPECT_EQ(count("bad_xids"), 300U);
}

TEST_F(Calls, ALongReplyWaitsForMemory) {
  Buffer elsewhere[] = {large_->acquire(), large_->acquire()};
  const Bytes results = pattern(50000);
  auto call = make_call(1);
  call->max_reply = kLarge;
  submit(*call);
  server_.send(record(rpc_reply(1, results)));
  run_until([&] { return count("receive_pauses") > 0; });
  settle();
  EXPECT_EQ(done_, 0);
  elsewhere[0].reset();
  run_until([&] { return done_ == 1; });
  ASSERT_TRUE(call->reply);
  const auto view = (*call->reply)->results.raw(results.size(), "results");
  EXPECT_EQ(Bytes(view.begin(), view.end()), results);
}

TEST_F(Calls, ErrorsOfRpc) {
  auto call = make_call(1);
  submit(*call);
  server_.send(record(words({1, 1, 0, 0, 0, 3})));
  run_until([&] { return done_ == 1; });
  EXPECT_TRUE(call->reply->error().is(Layer::rpc, static_cast<int>(rpc::Fault::proc_unavail)));
}

TEST_F(Calls, AReplyThatDoesNotDecodeEndsItsCallOnly) {
  auto call = make_call(1);
  submit(*call);
  server_.send(record(words({1, 1, 9})));
  run_until([&] { return done_ == 1; });
  EXPECT_EQ(call->reply->error().layer, Layer::decode);
  EXPECT_EQ(observer_.downs, 0);
}

TEST_F(Calls, LargeReply) {
  const Bytes results = pattern(kLarge - 24);
  auto call = make_call(1);
  call->max_reply = kLarge;
  submit(*call);
  Bytes bytes = record(rpc_reply(1, results));
  for (std::size_t at = 0; at < bytes.size(); at += 100000) {
    server_.send(std::span(bytes).subspan(at, std::min<std::size_t>(100000, bytes.size() - at)));
    settle();
  }
  run_until([&] { return done_ == 1; });
  const auto view = (*call->reply)->results.raw(results.size(), "results");
  EXPECT_EQ(Bytes(view.begin(), view.end()), results);
  EXPECT_EQ(large_->available(), 1U) << "the reply holds a slot";
  call.reset();
  EXPECT_EQ(large_->available(), 2U);
}

TEST_F(Calls, AReplyThatCouldNotBeReceivedIsNotAskedFor) {
  auto call = make_call(1);
  call->max_reply = kLarge + 1;
  submit(*call);
  EXPECT_EQ(done_, 0) << "never from within submit()";
  run_until([&] { return done_ == 1; });
  EXPECT_TRUE(call->reply->error().is(Layer::local, EMSGSIZE));
}

/// A connection with little memory, and calls whose replies have all of it.
class OutOfMemory : public Calls {
 protected:
  void SetUp() override {
    options_.calls = 2;
    options_.backward_calls = 1;
    Calls::SetUp();
    while (count("receive_pauses") == 0) {
      ASSERT_LT(kept_.size(), 30U);
      const auto xid = static_cast<std::uint32_t>(kept_.size() + 1);
      kept_.push_back(make_call(xid));
      submit(*kept_.back());
      answer(xid, xid);
      settle();
    }
    EXPECT_FALSE(kept_.back()->reply) << "there is no memory for its reply";
  }

  std::vector<std::unique_ptr<rpc::Call>> kept_;
};

// I2: messages that are read are not received into; reading goes on when one is free again.
TEST_F(OutOfMemory, GoesOnWhenAMessageIsFree) {
  kept_.front().reset();
  run_until([&] { return kept_.back()->reply.has_value(); });
  EXPECT_EQ(result_of(*kept_.back()), kept_.size());
  kept_.clear();
}

TEST_F(OutOfMemory, TheEndIsNoticed) {
  server_.close();  // with bytes unread: a reset
  run_until([&] { return observer_.downs == 1; });
  EXPECT_TRUE(kept_.back()->reply->error().is(Layer::fabric, static_cast<int>(net::Fault::reset)));
  kept_.clear();
}

// A call of Urgency::reserved is sent although as many are open as may be.
TEST_F(Calls, QueuedBeyondTheLimit) {
  disconnect();
  options_.calls = 2;
  channel_.reset();
  make_factory();
  connect();
  std::vector<std::unique_ptr<rpc::Call>> calls;
  for (std::uint32_t xid = 1; xid <= 3; ++xid) {
    calls.push_back(make_call(xid));
    submit(*calls.back());
  }
  auto urgent = make_call(9);
  urgent->urgency = rpc::Urgency::reserved;
  submit(*urgent);
  await_messages(3);
  settle();
  server_.receive();
  ASSERT_EQ(server_.messages.size(), 3U);
  EXPECT_EQ(xdr::Decoder(server_.messages[0]).u32("xid"), 9U) << "before what was sent later";
  EXPECT_EQ(channel_->open_calls(), 4U);
  EXPECT_EQ(count("queue_waits"), 1U);
  answer(1, 1);
  await_messages(4);
  for (std::uint32_t xid : {2U, 3U, 9U}) answer(xid, xid);
  run_until([&] { return done_ == 4; });
}

struct Malformed {
  const char* name;
  Bytes bytes;
};

TEST_F(Calls, WhatBreaksTheRulesEndsTheConnection) {
  Bytes too_long;
  append(too_long, tcp::encode({tcp::RecordMark::kMaxLength, true}));
  const Bytes longer_than_a_slot = record(rpc_reply(1, pattern(kLarge)));
  const Malformed cases[] = {
      {"too long", too_long},
      {"neither call nor reply", record(words({1, 2, 0}))},
      {"too short", record(words({1}))},
      {"empty", record({})},
      {"longer than a slot", Bytes(longer_than_a_slot.begin(), longer_than_a_slot.begin() + 9000)},
  };
  std::uint64_t bad = 0;
  for (const auto& one : cases) {
    connect();
    done_ = 0;
    auto call = make_call(1);
    submit(*call);
    server_.send(one.bytes);
    run_until([&] { return observer_.downs == 1; });
    EXPECT_EQ(observer_.closings, 1) << one.name;
    EXPECT_EQ(done_, 1) << one.name;
    EXPECT_TRUE(call->reply->error().is(Layer::fabric, static_cast<int>(net::Fault::protocol)))
        << one.name;
    EXPECT_EQ(call->losses.same_fault, 1U) << one.name;
    EXPECT_EQ(count("bad_records"), ++bad) << one.name;
  }
}

}  // namespace
}  // namespace nfsrdma::test
