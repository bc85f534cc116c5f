// Effects of each fault of a script on calls.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

#include "client/proto/status.h"
#include "tests/proto/operations.h"
#include "tests/responder/responder_rig.h"
#include "tests/support/counter_of.h"

namespace nfsrdma::responder {
namespace {

constexpr std::uint32_t kFaultsXid = 0x7001;
constexpr std::uint32_t kSequence = nfs4::OP_SEQUENCE;
constexpr std::uint32_t kPutRootFh = nfs4::OP_PUTROOTFH;
constexpr std::uint32_t kLookup = nfs4::OP_LOOKUP;
constexpr std::uint32_t kOpen = nfs4::OP_OPEN;
constexpr std::uint32_t kGetFh = nfs4::OP_GETFH;

class FaultTest : public ResponderRig {
 protected:
  FaultTest() { start(); }

  void fault(std::string_view spec) {
    auto added = responder->add_fault(spec);
    ASSERT_TRUE(added) << added.error().message();
  }
  /// SEQUENCE, PUTROOTFH, LOOKUP "x", OPEN (which ends the list).
  static Bytes compound(std::uint32_t xid) {
    auto arguments = words({0, 1,          4,       kSequence, 1,          2,     3, 4, 1, 0,     0,
                            0, kPutRootFh, kLookup, 1,         0x78000000, kOpen, 9, 9, 9, kGetFh});
    return assemble(message_header(xid), rpc_call(xid, arguments));
  }
  std::uint64_t fault_count(const std::string& name) {
    return nfsrdma::testing::counter_of(*responder, name);
  }
};

/// A responder that is given the order of its answers.
class ReorderTest : public ResponderRig {};

TEST_F(FaultTest, OperationsAreCountedUpToTheFirstUnion) {
  auto& requester = connect();
  EXPECT_TRUE(exchange(requester, compound(kFaultsXid)).results());
  EXPECT_EQ(counters().operations[kSequence].value(), 1U);
  EXPECT_EQ(counters().operations[kPutRootFh].value(), 1U);
  EXPECT_EQ(counters().operations[kLookup].value(), 1U);
  EXPECT_EQ(counters().operations[kOpen].value(), 1U);
  EXPECT_EQ(counters().operations[kGetFh].value(), 0U);
}

// U2: a call that is held back does not hold back those behind it.
TEST_F(FaultTest, DelayedCallDoesNotStallOthers) {
  fault("delay=60000:op=LOOKUP:times=1");
  auto& requester = connect();
  requester.send(compound(kFaultsXid));
  for (std::uint32_t i = 1; i <= 1000; ++i) {
    EXPECT_EQ(exchange(requester, plain_call(kFaultsXid + i)).header.rdma_xid, kFaultsXid + i);
  }
  EXPECT_EQ(service.calls, 1000);
}

TEST_F(FaultTest, DelayedCallIsAnsweredInTheEnd) {
  fault("delay=20:times=1");
  fault("delay-reply=20:after=1:times=1");
  auto& requester = connect();
  requester.send(plain_call(kFaultsXid));
  requester.send(plain_call(kFaultsXid + 1));
  requester.send(plain_call(kFaultsXid + 2));
  EXPECT_EQ(next_reply(requester).header.rdma_xid, kFaultsXid + 2);
  next_reply(requester);
  next_reply(requester);
  EXPECT_EQ(service.calls, 3);
}

TEST_F(FaultTest, DroppedReplyIsExecutedAndNeverSent) {
  fault("drop-reply:times=1");
  auto& requester = connect();
  requester.send(plain_call(kFaultsXid));
  expect_silence(requester);
  EXPECT_EQ(service.calls, 1);
  EXPECT_EQ(fault_count("fault_1_drop-reply"), 1U);
}

TEST_F(FaultTest, DuplicateReplyComesTwice) {
  fault("duplicate-reply:times=1");
  auto& requester = connect();
  const auto first = exchange(requester, plain_call(kFaultsXid));
  EXPECT_EQ(next_reply(requester).bytes, first.bytes);
  EXPECT_EQ(service.calls, 1);
  expect_silence(requester);
}

TEST_F(FaultTest, DisconnectBeforeDoesNotExecute) {
  fault("disconnect=before:op=LOOKUP");
  auto& requester = connect();
  EXPECT_TRUE(exchange(requester, plain_call(kFaultsXid)).results());
  requester.send(compound(kFaultsXid + 1));
  run_until([&] { return requester.down(); });
  EXPECT_EQ(service.calls, 1);
  EXPECT_EQ(requester.arrived(), 0U);
}

TEST_F(FaultTest, DisconnectAfterExecutesAndDoesNotAnswer) {
  fault("disconnect=after");
  auto& requester = connect();
  requester.send(plain_call(kFaultsXid));
  run_until([&] { return requester.down(); });
  EXPECT_EQ(service.calls, 1);
  EXPECT_EQ(requester.arrived(), 0U);
  run_until([&] { return responder->connections() == 0; });
}

TEST_F(FaultTest, PeriodicDisconnectGoesOnUntilItIsTakenAway) {
  fault("disconnect=every:seconds=0.02");
  for (int i = 0; i < 3; ++i) {
    auto& requester = connect();
    run_until([&] { return requester.down(); });
  }
  responder->clear_faults();
  EXPECT_TRUE(exchange(connect(), plain_call(kFaultsXid)).results());
}

TEST_F(FaultTest, RpcAndTransportErrorsInsteadOfExecution) {
  auto& requester = connect();
  fault("rpc-error=system_err:times=1");
  auto results = exchange(requester, plain_call(kFaultsXid)).results();
  ASSERT_FALSE(results);
  EXPECT_TRUE(results.error().is(Layer::rpc, static_cast<int>(rpc::Fault::system_err)));
  responder->clear_faults();
  fault("rpc-error=auth:times=1");
  results = exchange(requester, plain_call(kFaultsXid)).results();
  ASSERT_FALSE(results);
  EXPECT_TRUE(results.error().is(Layer::rpc, static_cast<int>(rpc::Fault::auth_error)));
  responder->clear_faults();
  fault("rdma-error=version:times=1");
  expect_error(requester, plain_call(kFaultsXid), rdma::ERR_VERS);
  responder->clear_faults();
  fault("rdma-error=chunk:times=1");
  expect_error(requester, plain_call(kFaultsXid), rdma::ERR_CHUNK);
  EXPECT_EQ(service.calls, 0);
}

TEST_F(FaultTest, ForcedStatusIsForItsOperation) {
  fault("nfsstat=NFS4ERR_DELAY:op=LOOKUP:times=1");
  auto& requester = connect();
  std::vector<std::optional<std::uint32_t>> forced;
  service.on_call = [&](ServerCall& call) {
    forced.push_back(call.forced_status(kLookup));
    forced.push_back(call.forced_status(kOpen));
    call.reply(rpc::AcceptStat::success);
  };
  exchange(requester, compound(kFaultsXid));
  exchange(requester, compound(kFaultsXid));
  ASSERT_EQ(forced.size(), 4U);
  EXPECT_EQ(forced[0], nfs4::NFS4ERR_DELAY);
  EXPECT_FALSE(forced[1]);
  EXPECT_FALSE(forced[2]);
}

// F-7, D05-3.3-1
TEST_F(FaultTest, ZeroGrantIsSentWhenAskedFor) {
  fault("zero-grant:times=1");
  auto& requester = connect();
  EXPECT_EQ(exchange(requester, plain_call(kFaultsXid)).header.rdma_credit, 0U);
  EXPECT_EQ(exchange(requester, plain_call(kFaultsXid)).header.rdma_credit, 16U);
}

TEST_F(FaultTest, CreditsAreWhatTheListSays) {
  fault("credits=64,1,0xffffffff:times=3");
  auto& requester = connect();
  for (const std::uint32_t granted : {64U, 1U, 0xffffffffU, 16U}) {
    EXPECT_EQ(exchange(requester, plain_call(kFaultsXid)).header.rdma_credit, granted);
  }
}

TEST_F(FaultTest, ReplyWaitsUntilOthersHaveGoneOut) {
  fault("reorder=2:times=1");
  auto& requester = connect();
  for (std::uint32_t i = 0; i < 3; ++i) requester.send(plain_call(kFaultsXid + i));
  EXPECT_EQ(next_reply(requester).header.rdma_xid, kFaultsXid + 1);
  EXPECT_EQ(next_reply(requester).header.rdma_xid, kFaultsXid + 2);
  EXPECT_EQ(next_reply(requester).header.rdma_xid, kFaultsXid);
}

TEST_F(FaultTest, ReplyThatNobodyOvertakesGoesWithItsConnection) {
  fault("reorder=1:times=1");
  auto& requester = connect();
  requester.send(plain_call(kFaultsXid));
  run_until([&] { return service.calls == 1; });
  responder->disconnect_all("test");
  run_until([&] { return responder->connections() == 0; });
  EXPECT_TRUE(exchange(connect(), plain_call(kFaultsXid)).results());
}

TEST_F(ReorderTest, CallsAreExecutedAndAnsweredInAnyOrderAndOnce) {
  ResponderConfig config;
  config.reorder = 7;
  start(config);
  auto& requester = connect();
  std::vector<std::uint32_t> executed;
  service.on_call = [&](ServerCall& call) {
    executed.push_back(call.header().xid);
    call.reply(rpc::AcceptStat::success);
  };
  std::vector<std::uint32_t> sent;
  for (std::uint32_t i = 0; i < 64; ++i) {
    requester.send(plain_call(kFaultsXid + i));
    sent.push_back(kFaultsXid + i);
  }
  std::vector<std::uint32_t> answered;
  while (answered.size() < sent.size()) answered.push_back(next_reply(requester).header.rdma_xid);
  EXPECT_NE(executed, sent);
  EXPECT_NE(answered, sent);
  EXPECT_NE(answered, executed);
  std::ranges::sort(executed);
  std::ranges::sort(answered);
  EXPECT_EQ(executed, sent);
  EXPECT_EQ(answered, sent);
}

TEST_F(FaultTest, ServiceIsToldOfItsFaults) {
  fault("replay-cache=garbage:times=1");
  fault("unstable=lost:op=LOOKUP");
  std::vector<ServiceFaults> told;
  service.on_call = [&](ServerCall& call) {
    told.push_back(call.service_faults());
    call.reply(rpc::AcceptStat::success);
  };
  auto& requester = connect();
  exchange(requester, plain_call(kFaultsXid));
  exchange(requester, compound(kFaultsXid));
  ASSERT_EQ(told.size(), 2U);
  EXPECT_EQ(told[0].reply_cache, ReplyCache::garbage);
  EXPECT_FALSE(told[0].unstable_lost);
  EXPECT_EQ(told[1].reply_cache, ReplyCache::kept);
  EXPECT_TRUE(told[1].unstable_lost);
}

/// Results of SEQUENCE.
class ResultFaultTest : public FaultTest {
 protected:
  /// The result of SEQUENCE under this rule.
  nfs4::SEQUENCE4resok sequence_with(std::string_view rule) {
    fault(rule);
    service.on_call = [](ServerCall& call) {
      nfs4::SEQUENCE4res result;
      result.sr_resok4.sr_highest_slotid = result.sr_resok4.sr_target_highest_slotid = 15;
      encode(call.results(), nfs4::COMPOUND4res_header{nfs4::NFS4_OK, {}, 1});
      encode_operation(call.results(), result);
      call.reply(rpc::AcceptStat::success);
    };
    const auto reply = exchange(connect(), compound(kFaultsXid));
    auto results = reply.results();
    nfs4::COMPOUND4res_header header;
    nfs4::SEQUENCE4res result;
    EXPECT_TRUE(results);
    decode(*results, header);
    decode_result(*results, result);
    EXPECT_TRUE(results->finish("results"));
    EXPECT_EQ(value(counters().results_spoiled), 1U);
    return result.sr_resok4;
  }
};

TEST_F(ResultFaultTest, StatusFlags) {
  EXPECT_EQ(sequence_with("flags=CB_PATH_DOWN,0x1000").sr_status_flags,
            nfs4::SEQ4_STATUS_CB_PATH_DOWN | nfs4::SEQ4_STATUS_DEVID_DELETED);
}

TEST_F(ResultFaultTest, SlotsAndTarget) {
  const auto ok = sequence_with("slots=highest:63,target:0");
  EXPECT_EQ(ok.sr_highest_slotid, 63U);
  EXPECT_EQ(ok.sr_target_highest_slotid, 0U);
}

TEST_F(ResultFaultTest, LiesHaveNames) {
  EXPECT_EQ(sequence_with("lie=2^32-slots").sr_target_highest_slotid, 0xffffffffU);
}

TEST_F(FaultTest, StoppedResponderAnswersWhenItGoesOn) {
  auto& requester = connect();
  auto& leaver = connect();
  EXPECT_TRUE(exchange(requester, plain_call(kFaultsXid)).results());
  responder->stop_answering();
  for (std::uint32_t i = 0; i < 5; ++i) requester.send(plain_call(kFaultsXid + i));
  leaver.send(plain_call(kFaultsXid));
  const auto whole = plain_call(kFaultsXid).size();
  run_until([&] { return counters().inline_received_bytes.value() == 7 * whole; });
  leaver.endpoint().disconnect(Error::local(ECANCELED, "test"));
  run_until([&] { return responder->connections() == 1; });
  EXPECT_EQ(service.calls, 1);
  EXPECT_EQ(requester.arrived(), 0U);
  responder->resume_answering();
  for (std::uint32_t i = 0; i < 5; ++i)
    EXPECT_EQ(next_reply(requester).header.rdma_xid, kFaultsXid + i);
}

}  // namespace
}  // namespace nfsrdma::responder
