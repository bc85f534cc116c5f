// What the loss of a connection does to Calls, and what the next connection starts with.
#include <gtest/gtest.h>

#include <deque>

#include "tests/transport/rdma/harness.h"
#include "tests/transport/rdma/random_connections.h"

namespace nfsrdma::test {
namespace {

class Loss : public testing::Test {
 protected:
  void SetUp() override { harness_.connect(); }
  void lose(fabric::Fault fault) {
    harness_.peer().lose(fault);
    harness_.settle();
  }
  void reconnect() {
    harness_.channel.reset();
    harness_.observer.downs = 0;
    harness_.connect();
  }
  /// Opens the grant of the present connection.
  void open_credits() {
    const std::size_t index = harness_.peer().sent_count();
    TestCall opener(harness_, next_opener_++);
    opener.submit();
    harness_.answer(index);
    EXPECT_TRUE(opener.ok());
  }

  Harness harness_;
  std::uint32_t next_opener_ = 0xF0000000;
};

// V1-4.5.3-1, V1-2.3.2-2, V1-4.5.5-1, BD-10: every open Call, sent or waiting, ends with the loss
// before the channel is down.
TEST_F(Loss, EndsEveryOpenCall) {
  std::deque<TestCall> calls;
  int ended_before_down = 0;
  for (std::uint32_t xid = 1; xid <= 5; ++xid) {
    TestCall& call = calls.emplace_back(harness_, xid);
    call.on_done = [&] {
      EXPECT_EQ(harness_.observer.closings, 1) << "announced before the calls end";
      if (harness_.observer.downs == 0) ++ended_before_down;
    };
    call.submit();
  }
  lose(fabric::Fault::closed);
  EXPECT_EQ(ended_before_down, 5);
  EXPECT_EQ(harness_.observer.downs, 1);
  for (auto& call : calls) EXPECT_EQ(call.error().layer, Layer::fabric);
  EXPECT_EQ(calls[0].call.losses.total, 1u) << "it was sent";
  EXPECT_EQ(calls[1].call.losses.total, 0u) << "it was still waiting";
}

// V1-8.1.3-3, V1-4.4.1-3: its memory is out of reach by then.
TEST_F(Loss, FencesTheMemoryOfOpenCalls) {
  TestCall call(harness_, 1);
  Buffer sink = harness_.data->acquire();
  call.call.result_sink = sink.first(9000);
  call.submit();
  fabric::Lease* lease = harness_.peer().sent(0).leases[0];
  call.on_done = [&] { EXPECT_EQ(lease->state, fabric::LeaseState::free); };
  lose(fabric::Fault::reset);
  EXPECT_TRUE(call.done());
}

// V1-4.5.5-1, E-8881-14, E-8881-2, BD-12: the same Call, byte for byte and with its XID, goes out
// on the next connection.
TEST_F(Loss, SameCallGoesOutOnTheNextConnection) {
  TestCall call(harness_, 0x77, 400);
  call.submit();
  const Bytes first = harness_.peer().sent(0).bytes;
  lose(fabric::Fault::reset);
  ASSERT_TRUE(call.done());
  reconnect();
  call.submit();
  EXPECT_EQ(harness_.peer().sent(0).bytes, first);
  harness_.answer(0);
  EXPECT_TRUE(call.ok());
}

// V1-4.5.5-2, V1-3.3.3-1, V1-8.1.1-1, V1-8.1.2-1: a new connection starts from one credit, with new
// Receives and new handles.
TEST_F(Loss, NewConnectionStartsAfresh) {
  open_credits();
  TestCall call(harness_, 0x77);
  Buffer sink = harness_.data->acquire();
  call.call.result_sink = sink.first(9000);
  call.submit();
  const auto old_handle = harness_.peer().sent(1).leases[0]->segment.handle;
  lose(fabric::Fault::reset);
  reconnect();
  EXPECT_EQ(harness_.peer().receives(), 16u);
  call.submit();
  TestCall second(harness_, 0x78);
  second.submit();
  EXPECT_EQ(harness_.peer().sent_count(), 1u);
  EXPECT_NE(harness_.peer().sent(0).leases[0]->segment.handle, old_handle);
  harness_.answer(0);
  EXPECT_EQ(harness_.peer().sent_count(), 2u);
  harness_.answer(1);
  EXPECT_TRUE(second.ok());
}

// E-8797-10, P7: sizes are those of the present connection.
TEST_F(Loss, SizesAreNegotiatedAnew) {
  for (std::size_t size : {std::size_t{1024}, std::size_t{4096}, std::size_t{65536}}) {
    lose(fabric::Fault::closed);
    const auto wire = rdma::encode_private_data({.send_size = size, .receive_size = size});
    harness_.fabric.peer_private_data.assign(wire.begin(), wire.end());
    reconnect();
    const std::size_t limit = std::min<std::size_t>(size, 4096);
    EXPECT_EQ(harness_.channel->limits().max_backward_reply, limit - rdma::kMinHeader);
    EXPECT_EQ(harness_.channel->limits().max_backward_call, limit - rdma::kMinHeader);
    open_credits();
  }
}

// A connection that cannot be made ends with its reason; so does one that is refused at once.
TEST_F(Loss, FailedAttemptsAreReported) {
  lose(fabric::Fault::closed);
  harness_.channel.reset();
  harness_.fabric.establishes = false;
  harness_.observer = {};
  harness_.connect();
  lose(fabric::Fault::timed_out);
  EXPECT_EQ(harness_.observer.ups, 0);
  EXPECT_EQ(harness_.observer.downs, 1);
  EXPECT_TRUE(
      harness_.observer.down_reason->is(Layer::fabric, static_cast<int>(fabric::Fault::timed_out)));
  harness_.fabric.refuses = true;
  EXPECT_FALSE(harness_.factory->connect(harness_.observer));
}

// A late answer of the provider after the close was asked for changes nothing.
TEST_F(Loss, NothingIsSentOrReceivedWhileClosing) {
  harness_.peer().disconnects_when_asked = false;
  TestCall open(harness_, 1);
  open.submit();
  harness_.channel->close(Error::local(0, "test"));
  EXPECT_EQ(harness_.observer.closings, 1);
  TestCall late(harness_, 2);
  late.submit();
  EXPECT_FALSE(late.done());
  harness_.settle();
  ASSERT_TRUE(late.done());
  EXPECT_EQ(late.error().layer, Layer::fabric);
  harness_.answer(0);
  EXPECT_FALSE(open.done()) << "still the provider's memory";
  lose(fabric::Fault::local_close);
  EXPECT_FALSE(open.ok());
  EXPECT_EQ(harness_.peer().sent_count(), 1u);
}

// V1-4.5.4-1, V1-4.5.4-3: an error of a post ends the connection, and the call with it.
TEST_F(Loss, FailedPostEndsTheConnection) {
  harness_.peer().fail_sends = true;
  TestCall call(harness_, 1);
  call.submit();
  EXPECT_FALSE(call.done()) << "its memory stays lent until the connection is down";
  harness_.settle();
  EXPECT_FALSE(call.ok());
  EXPECT_EQ(harness_.observer.downs, 1);
}

// P4: a Receive that cannot be posted ends the connection too, at once or later.
TEST_F(Loss, FailedReceiveEndsTheConnection) {
  TestCall call(harness_, 1);
  harness_.peer().fail_receives = true;
  call.submit();
  harness_.settle();
  EXPECT_TRUE(call.done());
  EXPECT_EQ(harness_.observer.downs, 1);
  harness_.channel.reset();
  harness_.observer = {};
  harness_.fabric.fail_receives = true;
  harness_.connect();
  EXPECT_EQ(harness_.observer.ups, 0);
  EXPECT_EQ(harness_.observer.downs, 1);
}

// P3, V1-4.5.3-2: a reply that fits no receive buffer ends the connection. The calls that were open
// are isolated: each goes out alone next time. The one that does it again is not sent a third time,
// and all others survive.
TEST_F(Loss, CallThatKillsTwiceIsFoundAndStopped) {
  open_credits();
  std::deque<TestCall> calls;
  for (std::uint32_t xid = 1; xid <= 4; ++xid) calls.emplace_back(harness_, xid).submit();
  ASSERT_EQ(harness_.peer().sent_count(), 5u);
  harness_.deliver(Bytes(5000));
  EXPECT_TRUE(harness_.observer.down_reason->is(
      Layer::fabric, static_cast<int>(fabric::Fault::receive_too_small)));
  for (auto& call : calls) {
    EXPECT_TRUE(call.call.isolated());
    EXPECT_FALSE(call.call.is_poison());
  }

  reconnect();
  open_credits();
  for (auto& call : calls) call.submit();
  ASSERT_EQ(harness_.peer().sent_count(), 2u) << "one isolated at a time";
  harness_.answer(1);
  EXPECT_TRUE(calls[0].ok());
  ASSERT_EQ(harness_.peer().sent_count(), 3u);
  harness_.deliver(Bytes(5000));  // what the second one gets for an answer
  EXPECT_TRUE(calls[1].call.is_poison());
  EXPECT_FALSE(calls[2].call.is_poison());
  EXPECT_FALSE(calls[3].call.is_poison());

  reconnect();
  open_credits();
  calls[2].submit();
  calls[3].submit();
  harness_.answer(1);
  harness_.answer(2);
  EXPECT_TRUE(calls[2].ok());
  EXPECT_TRUE(calls[3].ok());
}

// P3: a isolated is alone among ordinary calls only; reserved ones pass.
TEST_F(Loss, ReservedCallsPassAnIsolatedCall) {
  open_credits();
  TestCall isolated(harness_, 1);
  isolated.submit();
  harness_.deliver(Bytes(5000));
  reconnect();
  open_credits();
  isolated.submit();
  TestCall ordinary(harness_, 2);
  ordinary.submit();
  TestCall reserved(harness_, 3);
  reserved.call.urgency = rpc::Urgency::reserved;
  reserved.submit();
  ASSERT_EQ(harness_.peer().sent_count(), 3u);
  EXPECT_EQ(parse(harness_.peer().sent(2).bytes)->header.rdma_xid, 3u);
  harness_.answer(1);
  EXPECT_TRUE(isolated.ok());
  ASSERT_EQ(harness_.peer().sent_count(), 4u);
  harness_.answer(2);
  harness_.answer(3);
}

// P3: a server that merely closes or resets, however often, makes no call a isolated.
TEST_F(Loss, PlainLossesBlameNobody) {
  TestCall call(harness_, 1);
  for (int i = 0; i < 10; ++i) {
    call.submit();
    lose(i % 2 == 0 ? fabric::Fault::closed : fabric::Fault::reset);
    reconnect();
  }
  EXPECT_EQ(call.call.losses.total, 10u);
  EXPECT_FALSE(call.call.isolated());
  call.submit();
  harness_.answer(0);
  EXPECT_TRUE(call.ok());
}

// F-9, P3: a malformed reply names its call: no other is a isolated.
TEST_F(Loss, MalformedReplyBlamesItsCallOnly) {
  open_credits();
  TestCall innocent(harness_, 1);
  TestCall poison_call(harness_, 2);
  innocent.submit();
  poison_call.submit();
  rdma::Header& header = harness_.reply_header(2);
  header.chunks.add_read(4, {1, 2, 3});
  harness_.deliver(encode(header, rpc_reply(2)));
  EXPECT_FALSE(innocent.call.isolated());
  EXPECT_TRUE(poison_call.call.isolated());
}

// V1-4.6.1-1, V1-4.6.2-1, V1-4.2.4-5, P4, P7, P10: connections that end at random moments, with
// random work in flight: every call ends once, everything is back where it belongs, and nothing
// was sent but RDMA_MSG and RDMA_NOMSG. tests/pains has more of them.
TEST(RandomLosses, LeaveNothingBehind) {
  constexpr int kConnections = 1000;
  Harness harness;
  RandomConnections connections(harness, 20260101);
  for (int round = 0; round < kConnections; ++round) {
    ASSERT_NO_FATAL_FAILURE(connections.run_one()) << round;
  }
}

}  // namespace
}  // namespace nfsrdma::test
