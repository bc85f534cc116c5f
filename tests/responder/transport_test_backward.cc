// The backward direction (RFC 8167), in both versions, seen by a client that answers by hand.
#include <cerrno>

#include "tests/responder/responder_rig.h"

namespace nfsrdma::responder {
namespace {

constexpr std::uint32_t kBackwardXid = 1;  // the same as the first backward XID: two spaces (BD-2)
constexpr std::uint32_t kProgram = 0x40000001;

class BackwardTest : public ResponderRig, public testing::WithParamInterface<std::uint32_t> {
 protected:
  /// As in the rig, in the version of the test.
  static rdma::Header message_header(std::uint32_t xid, std::uint32_t credit = 16) {
    rdma::Header header = ResponderRig::message_header(xid, credit);
    header.rdma_vers = GetParam();
    return header;
  }
  static Bytes plain_call(std::uint32_t xid) {
    return assemble(message_header(xid), rpc_call(xid));
  }
  static ResponderConfig both() {
    ResponderConfig config;
    config.versions.high = rdma::kVersionTwo;
    return config;
  }
  /// Makes one call so that the service knows the connection.
  RawRequester& connect_and_learn() {
    if (!responder) start(both());
    auto& requester = connect();
    service.on_call = [this](ServerCall& call) {
      connection = &call.connection();
      call.reply(rpc::AcceptStat::success);
    };
    EXPECT_TRUE(exchange(requester, plain_call(kBackwardXid)).results());
    return requester;
  }
  Result<void> call_back(std::size_t argument_size = 8) {
    auto encode = [argument_size](xdr::Encoder& out) { out.reserve(argument_size); };
    auto done = [this](Result<xdr::Decoder> results) {
      ++ended;
      failed = !results;
      if (results) result_word = results->u32("result");
      if (!results) error = results.error();
    };
    return connection->call_back({.program = kProgram}, encode, done);
  }
  /// The client's answer to the backward call `xid`.
  static Bytes answer(std::uint32_t xid, std::uint32_t credit, std::uint32_t word) {
    return assemble(message_header(xid, credit), words({xid, 1, 0, 0, 0, 0, word}));
  }
  void answer_and_wait(RawRequester& requester, std::span<const std::byte> bytes) {
    const int before = ended;
    requester.send(bytes);
    run_until([&] { return ended > before; });
  }
  static std::uint32_t xid_of(const Arrived& arrived) {
    return xdr::Decoder(arrived.bytes).u32("xid");
  }
  Arrived next(RawRequester& requester) {
    run_until([&] { return requester.arrived() > 0; });
    return requester.take();
  }

  Connection* connection = nullptr;
  int ended = 0;
  bool failed = false;
  std::uint32_t result_word = 0;
  Error error;
};

// BD-1, BD-4, BD-15, BD-17, BD-18, E-8167-5, E-8167-6, V1-2.2.3-1
TEST_P(BackwardTest, CallIsAnInlineMessageWithItsOwnXid) {
  auto& requester = connect_and_learn();
  ASSERT_TRUE(call_back());
  const auto arrived = next(requester);
  xdr::Decoder in(arrived.bytes);
  rdma::Header header;
  ASSERT_EQ(rdma::decode_header(in, header, {GetParam(), GetParam()}), rdma::HeaderFault::none);
  EXPECT_EQ(header.proc, rdma::RDMA_MSG);
  EXPECT_EQ(header.rdma_vers, GetParam());
  EXPECT_GE(header.rdma_credit, 1U);
  EXPECT_TRUE(header.chunks.all_absent());
  auto call = rpc::decode_call_header(in);
  ASSERT_TRUE(call);
  EXPECT_EQ(call->xid, header.rdma_xid);
  EXPECT_EQ(call->program, kProgram);
  EXPECT_EQ(call->version, 1U);
  EXPECT_EQ(call->procedure, 1U);
  EXPECT_EQ(in.remaining(), 8U);
  answer_and_wait(requester, answer(header.rdma_xid, 4, 42));
  EXPECT_FALSE(failed);
  EXPECT_EQ(result_word, 42U);
}

// BD-2, BD-3, E-8167-1: the same XID in both directions at once, two transactions.
TEST_P(BackwardTest, EqualXidsOfBothDirectionsAreTwoTransactions) {
  auto& requester = connect_and_learn();
  ServerCall* open = nullptr;
  service.on_call = [&](ServerCall& call) { open = &call; };
  requester.send(plain_call(kBackwardXid));
  run_until([&] { return open != nullptr; });
  ASSERT_TRUE(call_back());
  EXPECT_EQ(xid_of(next(requester)), kBackwardXid);
  answer_and_wait(requester, answer(kBackwardXid, 4, 42));
  EXPECT_EQ(result_word, 42U);
  open->reply(rpc::AcceptStat::success);
  EXPECT_EQ(next_reply(requester).header.rdma_xid, kBackwardXid);
}

// BD-5, BD-3, E-8167-2: one credit before the first answer, then the client's grant.
TEST_P(BackwardTest, ClientsCreditsAreRespected) {
  auto& requester = connect_and_learn();
  ASSERT_TRUE(call_back());
  auto second = call_back();
  ASSERT_FALSE(second);
  EXPECT_TRUE(second.error().is(Layer::local, EAGAIN));
  answer_and_wait(requester, answer(xid_of(next(requester)), 3, 1));
  std::vector<std::uint32_t> xids;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(call_back());
    xids.push_back(xid_of(next(requester)));
  }
  EXPECT_FALSE(call_back());
  // Answers in another order than the calls.
  answer_and_wait(requester, answer(xids[2], 3, 12));
  EXPECT_EQ(result_word, 12U);
  answer_and_wait(requester, answer(xids[0], 3, 10));
  EXPECT_EQ(result_word, 10U);
  answer_and_wait(requester, answer(xids[1], 3, 11));
  EXPECT_EQ(result_word, 11U);
}

TEST_P(BackwardTest, CreditsAreOverrunWhereTheScriptSaysSo) {
  connect_and_learn();
  ASSERT_TRUE(responder->add_fault("cb-credits=3"));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(call_back());
  EXPECT_FALSE(call_back());
}

TEST_P(BackwardTest, CallIsCutWhereThatIsWanted) {
  auto& requester = connect_and_learn();
  const auto sent = connection->call_back(
      {.program = kProgram, .cut = 20}, [](xdr::Encoder&) {}, [](const Result<xdr::Decoder>&) {});
  ASSERT_TRUE(sent);
  EXPECT_EQ(next(requester).bytes.size(), 20U);
}

// BD-3: the forward grant is a separate account; forward calls flow while callbacks are open.
TEST_P(BackwardTest, DirectionsHaveSeparateCredits) {
  auto& requester = connect_and_learn();
  ASSERT_TRUE(call_back());
  const auto xid = xid_of(next(requester));
  for (std::uint32_t i = 0; i < 5; ++i) {
    EXPECT_EQ(exchange(requester, plain_call(100 + i)).header.rdma_credit, 16U);
  }
  answer_and_wait(requester, answer(xid, 2, 42));
  EXPECT_EQ(exchange(requester, plain_call(200)).header.rdma_credit, 16U);
}

// BD-9, E-8167-4: receives for the forward grant and for the answers at the same time.
TEST_P(BackwardTest, AnswersFindReceivesWhileAllForwardCreditsAreUsed) {
  ResponderConfig config = both();
  config.credits = 8;
  start(config);
  auto& requester = connect_and_learn();
  answer_and_wait(requester, [&] {
    EXPECT_TRUE(call_back());
    return answer(xid_of(next(requester)), 8, 1);
  }());
  for (int i = 0; i < 8; ++i) ASSERT_TRUE(call_back());
  std::vector<std::uint32_t> xids;
  for (int i = 0; i < 8; ++i) xids.push_back(xid_of(next(requester)));
  std::vector<ServerCall*> open;
  service.on_call = [&](ServerCall& call) { open.push_back(&call); };
  for (std::uint32_t i = 0; i < 8; ++i) requester.send(plain_call(300 + i));
  run_until([&] { return open.size() == 8; });
  for (const auto xid : xids) requester.send(answer(xid, 8, xid));
  run_until([&] { return ended == 9; });
  for (auto* call : open) call->reply(rpc::AcceptStat::success);
  for (int i = 0; i < 8; ++i) EXPECT_TRUE(next_reply(requester).results());
}

// BD-7, BD-14, E-8167-3, E-8267-12, E-8267-13: no larger than the reply threshold.
TEST_P(BackwardTest, CallThatIsTooLongIsNotSent) {
  auto& requester = connect_and_learn();
  EXPECT_EQ(connection->max_backward_message(), 4096U);
  auto too_long = call_back(4096);
  ASSERT_FALSE(too_long);
  EXPECT_TRUE(too_long.error().is(Layer::local, EMSGSIZE));
  const auto overhead = rdma::kMinHeader + 10 * xdr::kUnit;
  ASSERT_TRUE(call_back(4096 - overhead));
  EXPECT_EQ(next(requester).bytes.size(), 4096U);
}

// F-2, BD-20, V1-4.2.4-6: RDMA_ERROR answers an own call when there is one.
TEST_P(BackwardTest, RdmaErrorEndsItsCall) {
  auto& requester = connect_and_learn();
  ASSERT_TRUE(call_back());
  const auto xid = xid_of(next(requester));
  requester.send(words({xid + 7, GetParam(), 1, rdma::RDMA_ERROR, rdma::ERR_CHUNK}));
  answer_and_wait(requester, words({xid, GetParam(), 1, rdma::RDMA_ERROR, rdma::ERR_CHUNK}));
  EXPECT_TRUE(failed);
  EXPECT_EQ(counters().dropped_error.value(), 1U);
}

// BD-18, F-8, V1-4.2.1-2: an answer whose RPC message has another XID is not the answer.
TEST_P(BackwardTest, AnswerWithAnotherXidInsideIsDropped) {
  auto& requester = connect_and_learn();
  ASSERT_TRUE(call_back());
  const auto xid = xid_of(next(requester));
  requester.send(assemble(message_header(xid, 7), words({xid + 1, 1, 0, 0, 0, 0, 41})));
  expect_silence(requester);
  EXPECT_EQ(ended, 0);
  EXPECT_EQ(counters().dropped_reply.value(), 1U);
  answer_and_wait(requester, answer(xid, 1, 42));
  EXPECT_EQ(result_word, 42U);
}

// RFC 5531 section 9
TEST_P(BackwardTest, RpcErrorsAreReported) {
  auto& requester = connect_and_learn();
  ASSERT_TRUE(call_back());
  const auto xid = xid_of(next(requester));
  answer_and_wait(requester, assemble(message_header(xid, 2), words({xid, 1, 0, 0, 0, 1})));
  EXPECT_TRUE(failed);
  EXPECT_TRUE(error.is(Layer::rpc, static_cast<int>(rpc::Fault::prog_unavail)));
}

// V1-2.2.2-2: a second answer to the same call is dropped.
TEST_P(BackwardTest, SecondAnswerIsDropped) {
  auto& requester = connect_and_learn();
  ASSERT_TRUE(call_back());
  const auto xid = xid_of(next(requester));
  requester.send(answer(xid, 2, 1));
  requester.send(answer(xid, 2, 2));
  expect_silence(requester);
  EXPECT_EQ(ended, 1);
  EXPECT_EQ(result_word, 1U);
  EXPECT_EQ(counters().dropped_reply.value(), 1U);
}

// BD-10, BD-12: a lost connection ends its callbacks; the service decides what then.
TEST_P(BackwardTest, LostConnectionEndsOpenCalls) {
  auto& requester = connect_and_learn();
  ASSERT_TRUE(call_back());
  next(requester);
  requester.endpoint().disconnect(Error::local(ECANCELED, "test"));
  run_until([&] { return ended == 1; });
  EXPECT_TRUE(failed);
  EXPECT_TRUE(error.layer == Layer::fabric);
  run_until([&] { return service.closed == 1; });
}

// V2-4.2-8: version 2 has the backward direction of version 1.
INSTANTIATE_TEST_SUITE_P(Versions, BackwardTest, testing::Values(1U, 2U));

}  // namespace
}  // namespace nfsrdma::responder
