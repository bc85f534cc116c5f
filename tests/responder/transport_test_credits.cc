// Credits and receives of the responder (RFC 8166 section 3.3).
#include <deque>

#include "tests/responder/responder_rig.h"

namespace nfsrdma::responder {
namespace {

constexpr std::uint32_t kCreditsXid = 0x5001;

class CreditTest : public ResponderRig {
 protected:
  std::uint32_t grant_for(RawRequester& requester, std::uint32_t asked) {
    return exchange(requester, assemble(message_header(kCreditsXid, asked), rpc_call(kCreditsXid)))
        .header.rdma_credit;
  }
  /// The service keeps all calls unanswered in `open`.
  void keep_calls() {
    service.on_call = [this](ServerCall& call) { open.push_back(&call); };
  }
  void answer_one() {
    ServerCall* call = open.front();
    open.pop_front();
    call->reply(rpc::AcceptStat::success);
  }

  std::deque<ServerCall*> open;
};

// V1-3.3.1-2, V1-3.3.1-3, V1-3.3.1-5, V1-3.3.1-6, F-7: the request, within the limit, never
// zero.
TEST_F(CreditTest, GrantIsWhatWasAskedForWithinTheLimit) {
  ResponderConfig config;
  config.credits = 32;
  start(config);
  auto& requester = connect();
  EXPECT_EQ(grant_for(requester, 8), 8U);
  EXPECT_EQ(grant_for(requester, 32), 32U);
  EXPECT_EQ(grant_for(requester, 33), 32U);
  EXPECT_EQ(grant_for(requester, 0xffffffff), 32U);
  EXPECT_EQ(grant_for(requester, 0), 1U);
}

// V1-3.3.1-7: an absolute level, the same however many calls come and go.
TEST_F(CreditTest, GrantDoesNotMoveAtConstantLoad) {
  auto& requester = connect();
  for (int i = 0; i < 100; ++i) EXPECT_EQ(grant_for(requester, 20), 20U);
  keep_calls();
  for (std::uint32_t i = 0; i < 20; ++i) {
    requester.send(assemble(message_header(kCreditsXid + i, 20), rpc_call(kCreditsXid + i)));
  }
  run_until([&] { return open.size() == 20; });
  while (!open.empty()) {
    answer_one();
    EXPECT_EQ(next_reply(requester).header.rdma_credit, 20U);
  }
}

// V1-3.3.1-3: errors, denials and long replies carry the grant, too.
TEST_F(CreditTest, EveryKindOfReplyCarriesTheGrant) {
  auto& requester = connect();
  EXPECT_EQ(grant_for(requester, 9), 9U);
  EXPECT_EQ(exchange(requester, words({kCreditsXid, 7, 1, 0, 0, 0, 0})).header.rdma_credit, 9U);
  EXPECT_EQ(exchange(requester, words({kCreditsXid, 1, 1, 9, 0, 0, 0})).header.rdma_credit, 9U);
  auto& memory = requester.expose(8192, fabric::Access::remote_write);
  service.on_call = [](ServerCall& call) {
    call.results().reserve(6000);
    call.reply(rpc::AcceptStat::success);
  };
  rdma::Header header = message_header(kCreditsXid, 9);
  header.chunks.has_reply = true;
  header.chunks.rdma_reply.add(memory.segment());
  const auto reply = exchange(requester, assemble(header, rpc_call(kCreditsXid)));
  EXPECT_EQ(reply.header.proc, rdma::RDMA_NOMSG);
  EXPECT_EQ(reply.header.rdma_credit, 9U);
}

// BD-6: a header that cannot be decoded does not change the request.
TEST_F(CreditTest, UndecodableMessagesDoNotChangeTheLevel) {
  auto& requester = connect();
  EXPECT_EQ(grant_for(requester, 9), 9U);
  EXPECT_EQ(exchange(requester, words({kCreditsXid, 1, 30, 9, 0, 0, 0})).header.rdma_credit, 9U);
}

// V1-3.3.1-8, V1-3.3.1-9: the level falls and rises at run time; when it rises, the receives are
// there before the client can know: all calls of the new level at once find one.
TEST_F(CreditTest, LevelMovesAtRunTimeAndIsBackedByReceives) {
  ResponderConfig config;
  config.credits = 4;
  start(config);
  auto& requester = connect();
  EXPECT_EQ(grant_for(requester, 100), 4U);
  const auto lower = responder->add_fault("credits=2");
  ASSERT_TRUE(lower);
  EXPECT_EQ(grant_for(requester, 100), 2U);
  responder->remove_fault(*lower);
  ASSERT_TRUE(responder->add_fault("credits=100"));
  EXPECT_EQ(grant_for(requester, 100), 100U);
  keep_calls();
  for (std::uint32_t i = 0; i < 100; ++i) {
    requester.send(assemble(message_header(kCreditsXid + i, 100), rpc_call(kCreditsXid + i)));
  }
  run_until([&] { return open.size() == 100; });
  while (!open.empty()) answer_one();
  for (int i = 0; i < 100; ++i) EXPECT_EQ(next_reply(requester).header.rdma_credit, 100U);
  EXPECT_EQ(counters().credit_overruns.value(), 0U);
  EXPECT_TRUE(requester.up());
}

// V1-3.3.3-5: receives for more than one call are there from the start; the calls before the first
// reply are beyond the grant, and served. B4-4.3.1-1, F-23, V1-3.3.1-4
TEST_F(CreditTest, OverrunIsServedAndCounted) {
  auto& requester = connect();
  keep_calls();
  for (std::uint32_t i = 0; i < 3; ++i) {
    requester.send(assemble(message_header(kCreditsXid + i, 2), rpc_call(kCreditsXid + i)));
  }
  run_until([&] { return open.size() == 3; });
  EXPECT_EQ(counters().credit_overruns.value(), 2U);  // one credit before the first reply
  while (!open.empty()) answer_one();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(next_reply(requester).results());
  // Now two are granted.
  keep_calls();
  for (std::uint32_t i = 0; i < 3; ++i) {
    requester.send(assemble(message_header(kCreditsXid + i, 2), rpc_call(kCreditsXid + i)));
  }
  run_until([&] { return open.size() == 3; });
  EXPECT_EQ(counters().credit_overruns.value(), 3U);
  while (!open.empty()) answer_one();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(next_reply(requester).results());
}

// V1-3.3.1-11, BD-11: an idle client hears nothing; the first message it gets answers its call.
TEST_F(CreditTest, NothingIsSentUnasked) {
  auto& requester = connect();
  expect_silence(requester);
  EXPECT_EQ(counters().replies.value(), 1U);
  EXPECT_EQ(counters().backward_calls.value(), 0U);
}

// V1-3.3.1-1, V1-2.3.2-3: receives come back after every message, dropped ones included.
TEST_F(CreditTest, ReceivesComeBackWhateverTheMessageWas) {
  ResponderConfig config;
  config.credits = 2;
  start(config);
  auto& requester = connect();
  for (std::uint32_t i = 0; i < 100; ++i) {
    requester.send(words({kCreditsXid, 1, 1, rdma::RDMA_DONE}));
    EXPECT_EQ(exchange(requester, words({kCreditsXid, 9, 1, 0, 0, 0, 0})).header.proc,
              rdma::RDMA_ERROR);
    EXPECT_TRUE(exchange(requester, plain_call(kCreditsXid + i)).results());
  }
  EXPECT_TRUE(requester.up());
}

// V1-3.3.2-2, V1-6.3-1: a message of exactly the agreed size is taken.
TEST_F(CreditTest, CallOfTheWholeThresholdIsTaken) {
  for (const std::size_t size : {1024, 4096}) {
    auto& requester = connect(sizes(size, size));
    const auto room = size - rdma::kMinHeader - rpc_call(kCreditsXid).size();
    const auto call = assemble(message_header(kCreditsXid), rpc_call(kCreditsXid, pattern(room)));
    ASSERT_EQ(call.size(), size);
    EXPECT_TRUE(exchange(requester, call).results());
  }
}

// V1-2.3.2-2, V1-3.3.1-1: a longer one ends the connection, and only that one.
TEST_F(CreditTest, MessageLongerThanTheReceiveEndsTheConnection) {
  auto& requester = connect();
  auto& other = connect();
  requester.send(assemble(message_header(kCreditsXid), rpc_call(kCreditsXid, pattern(5000))));
  run_until([&] { return requester.down(); });
  EXPECT_TRUE(exchange(other, plain_call(kCreditsXid)).results());
  run_until([&] { return responder->connections() == 1; });
}

}  // namespace
}  // namespace nfsrdma::responder
