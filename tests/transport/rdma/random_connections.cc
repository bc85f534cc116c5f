#include "tests/transport/rdma/random_connections.h"

#include <gtest/gtest.h>

namespace nfsrdma::test {

void RandomConnections::run_one() {
  harness_.fabric.sends_complete = chance(50);
  harness_.fabric.invalidates_at_once = chance(50);
  harness_.fabric.fail_receives = chance(failing_receives);
  harness_.observer = {};
  harness_.connect();
  {
    std::deque<TestCall> calls;
    Buffer sink = harness_.data->acquire();
    submit_some(calls, sink);
    serve_some();
    ASSERT_NO_FATAL_FAILURE(expect_known_messages());
    end();
    ASSERT_EQ(harness_.observer.downs, 1);
    for (auto& call : calls) ASSERT_EQ(call.done_count(), 1);
    ASSERT_EQ(counter(*harness_.channel, "calls_open"), 0u);
    ASSERT_EQ(counter(*harness_.channel, "receives_posted"), 0u);
  }
  ASSERT_NO_FATAL_FAILURE(expect_nothing_left());
  harness_.channel.reset();
}

void RandomConnections::submit_some(std::deque<TestCall>& calls, Buffer& sink) {
  const unsigned count = random_() % 6;
  for (unsigned i = 0; i < count; ++i) {
    TestCall& call = calls.emplace_back(harness_, xid_++, 40 + 4 * (random_() % 2000));
    if (chance(50)) call.call.result_sink = sink.first(1 + random_() % 20000);
    if (chance(30)) call.call.max_reply = random_() % 30000;
    if (harness_.fabric.endpoint()) harness_.peer().fail_sends = chance(2);
    call.submit();
  }
}

void RandomConnections::serve_some() {
  for (unsigned step = random_() % 8; step > 0; --step) {
    if (!harness_.fabric.endpoint() || harness_.peer().down()) return;
    FakeEndpoint& peer = harness_.peer();
    if (peer.sent_count() > 0 && chance(60)) {
      const auto& header = harness_.reply_header(random_() % peer.sent_count());
      peer.deliver(encode(header, rpc_reply(header.rdma_xid)));
    }
    if (!peer.invalidating().empty() && chance(50)) peer.complete_invalidation(0);
    if (chance(10)) peer.deliver(pattern(random_() % 100));
    if (chance(70)) harness_.settle();
  }
}

void RandomConnections::expect_known_messages() {
  for (std::size_t i = 0; i < harness_.peer().sent_count(); ++i) {
    ASSERT_LE(parse(harness_.peer().sent(i).bytes)->header.proc, rdma::RDMA_NOMSG);
  }
}

void RandomConnections::end() {
  if (chance(50)) {
    harness_.channel->close(Error::local(0, "test"));
  } else {
    harness_.peer().lose(fabric::Fault::reset);
  }
  harness_.settle();
}

void RandomConnections::expect_nothing_left() {
  ASSERT_EQ(counter(*harness_.channel, "call_contexts_in_use"), 0u);
  ASSERT_EQ(counter(*harness_.channel, "messages_held"), 0u);
  ASSERT_EQ(harness_.factory->pools().receives->available(),
            harness_.factory->pools().receives->count());
  ASSERT_EQ(harness_.replies->available(), harness_.replies->slots());
}

}  // namespace nfsrdma::test
