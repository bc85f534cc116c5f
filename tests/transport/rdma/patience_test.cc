// What does not happen by itself, however much time passes.
#include <gtest/gtest.h>

#include "tests/transport/rdma/harness.h"

namespace nfsrdma::test {
namespace {

using namespace std::chrono_literals;

// V1-A.1-1, D05-6-1, V1-3.3.1-11: nothing is sent but what a Call needs: no configuration protocol.
TEST(Patience, NothingIsSentUnasked) {
  Harness harness;
  harness.connect();
  harness.reactor.advance(1h);
  EXPECT_EQ(harness.peer().sent_count(), 0u);
}

// BD-13, E-8167-7: an idle connection stays, for the server may call back.
TEST(Patience, IdleConnectionStays) {
  Harness harness;
  harness.connect();
  harness.reactor.advance(240h);
  EXPECT_FALSE(harness.peer().disconnecting());
  EXPECT_EQ(harness.observer.closings, 0);
  EXPECT_GT(harness.peer().receives(), 0u);
}

// V1-8.1.4-2, V1-4.4.1-3, E-8881-2, E-8881-4, F-26: a Call without a reply is neither sent again
// nor given up, and its memory stays with the server, until the reply comes.
TEST(Patience, OpenCallWaits) {
  Harness harness;
  harness.connect();
  TestCall call(harness, 1);
  Buffer sink = harness.data->acquire();
  call.call.result_sink = sink.first(9000);
  call.submit();
  const auto handle = harness.peer().sent(0).leases[0]->segment.handle;
  harness.reactor.advance(240h);
  EXPECT_FALSE(call.done());
  EXPECT_EQ(harness.peer().sent_count(), 1u);
  EXPECT_TRUE(harness.peer().reachable(handle));
  harness.answer(0);
  EXPECT_TRUE(call.ok());
}

// V1-3.3-1, V1-2.3.2-3: a message that finds no Receive ends the connection; the next one works.
TEST(Patience, MessageWithoutAReceiveEndsTheConnection) {
  Harness harness;
  harness.connect();
  TestCall call(harness, 1);
  call.submit();
  while (harness.peer().receives() > 0) harness.peer().take_receive();
  harness.peer().deliver(encode(harness.reply_header(0), rpc_reply(1)));
  harness.settle();
  ASSERT_TRUE(call.done());
  EXPECT_TRUE(call.error().is(Layer::fabric, static_cast<int>(fabric::Fault::receive_too_small)));
  harness.channel.reset();
  harness.observer = {};
  harness.connect();
  call.submit();
  harness.answer(0);
  EXPECT_TRUE(call.ok());
}

}  // namespace
}  // namespace nfsrdma::test
