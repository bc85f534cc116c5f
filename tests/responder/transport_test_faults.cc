// Fault scripts: their text form, their counting, and what each does on the wire.
#include <chrono>

#include "client/proto/status.h"
#include "tests/responder/responder_rig.h"
#include "tests/responder/transport/failed_calls.h"
#include "tests/responder/transport/operations.h"

namespace nfsrdma::responder {
namespace {

constexpr std::uint32_t kXid = 0x7001;
constexpr std::uint32_t kSequence = nfs4::OP_SEQUENCE;
constexpr std::uint32_t kPutRootFh = nfs4::OP_PUTROOTFH;
constexpr std::uint32_t kLookup = nfs4::OP_LOOKUP;
constexpr std::uint32_t kOpen = nfs4::OP_OPEN;
constexpr std::uint32_t kGetFh = nfs4::OP_GETFH;

TEST(FaultScriptTest, WrongWordsAreNamed) {
  FaultScript script;
  for (const char* spec : {"",
                           "dely=1",
                           "delay",
                           "delay=x",
                           "delay=1:op=REED",
                           "delay=1:every=0",
                           "delay=1:bogus=1",
                           "drop-reply=1",
                           "disconnect",
                           "disconnect=never",
                           "disconnect=every",
                           "malformed=much",
                           "rpc-error=none",
                           "rdma-error=3",
                           "nfsstat=13",
                           "nfsstat=NFS4ERR_NONE:op=READ",
                           "credits=",
                           "delay=1:seconds=2",
                           "disconnect=every:seconds=0",
                           "delay=-5"}) {
    auto added = script.add(spec);
    ASSERT_FALSE(added) << spec;
    EXPECT_FALSE(added.error().detail.empty());
  }
  EXPECT_TRUE(script.empty());
}

TEST(FaultScriptTest, RuleFiresByEveryAfterAndTimes) {
  FaultScript script;
  const auto id = script.add("drop-reply:after=2:every=3:times=2");
  ASSERT_TRUE(id);
  std::vector<int> fired;
  for (int call = 1; call <= 20; ++call) {
    if (script.decide({}).drop_reply) fired.push_back(call);
  }
  EXPECT_EQ(fired, (std::vector<int>{5, 8}));
  EXPECT_EQ(script.fired(*id), 2U);
  EXPECT_TRUE(script.remove(*id));
  EXPECT_FALSE(script.remove(*id));
}

TEST(FaultScriptTest, RuleMatchesItsOperationOnly) {
  FaultScript script;
  ASSERT_TRUE(script.add("delay=10:op=LOOKUP"));
  ASSERT_TRUE(script.add("delay=5"));
  ASSERT_TRUE(script.add("drop-reply:op=NULL"));
  OperationList lookup;
  lookup.add(kSequence);
  lookup.add(kLookup);
  EXPECT_EQ(script.decide(lookup).delay, std::chrono::milliseconds(15));
  EXPECT_FALSE(script.decide(lookup).drop_reply);
  EXPECT_TRUE(script.decide({}).drop_reply);
}

TEST(FaultScriptTest, LatestCreditsAndPeriodCount) {
  FaultScript script;
  EXPECT_FALSE(script.credits());
  ASSERT_TRUE(script.add("credits=5"));
  const auto latest = script.add("credits=7");
  EXPECT_EQ(script.credits(), 7U);
  script.remove(*latest);
  EXPECT_EQ(script.credits(), 5U);
  ASSERT_TRUE(script.add("disconnect=every:seconds=0.5"));
  EXPECT_EQ(script.disconnect_period(), std::chrono::milliseconds(500));
  EXPECT_FALSE(script.decide({}).disconnect_before);
}

// F-25: the only candidate at once, one of several at the second time; other clients never.
TEST(FailedCallsTest, BlamesTheOnlyCandidateOrTheRepeatedOne) {
  FailedCalls failed;
  failed.suspect("10.0.0.1", 1, true);
  failed.suspect("10.0.0.1", 2, false);
  EXPECT_TRUE(failed.blamed("10.0.0.1", 1));
  EXPECT_FALSE(failed.blamed("10.0.0.1", 2));
  EXPECT_FALSE(failed.blamed("10.0.0.2", 1));
  failed.suspect("10.0.0.1", 2, false);
  EXPECT_TRUE(failed.blamed("10.0.0.1", 2));
  for (std::uint32_t xid = 100; xid < 100 + FailedCalls::kRemembered; ++xid) {
    failed.suspect("10.0.0.1", xid, true);
  }
  EXPECT_FALSE(failed.blamed("10.0.0.1", 1));
}

class FaultTest : public ResponderRig {
 protected:
  FaultTest() { start(); }

  void fault(std::string_view spec) {
    auto added = responder->add_fault(spec);
    ASSERT_TRUE(added) << added.error().message();
  }
  /// SEQUENCE, PUTROOTFH, LOOKUP "x", OPEN (which ends the list).
  static Octets compound(std::uint32_t xid) {
    auto arguments = words({0, 1,          4,       kSequence, 1,          2,     3, 4, 1, 0,     0,
                            0, kPutRootFh, kLookup, 1,         0x78000000, kOpen, 9, 9, 9, kGetFh});
    return assemble(message_header(xid), rpc_call(xid, arguments));
  }
  /// A call with one Write chunk and a Reply chunk; the service fills the chunk with 13 octets.
  Octets call_with_chunks(RawRequester& requester) {
    service.on_call = [](ServerCall& call) {
      call.results().payload(call.scratch(13));
      call.reply(rpc::AcceptStat::success);
    };
    auto& memory = requester.expose(8192, fabric::Access::remote_write, std::byte{0xee});
    rdma::Header header = message_header(kXid);
    auto* chunk = header.chunks.add_write();
    chunk->add(memory.part(0, 10));
    chunk->add(memory.part(10, 10));
    header.chunks.has_reply = true;
    header.chunks.rdma_reply.add(memory.part(4096, 4096));
    return assemble(header, rpc_call(kXid));
  }
  ParsedReply spoiled(const std::string& kind) {
    auto& requester = connect();
    fault("malformed=" + kind + ":times=1");
    return exchange(requester, call_with_chunks(requester));
  }
  std::uint64_t fault_count(const std::string& name) {
    struct Find final : CounterVisitor {
      void visit(std::string_view each, std::uint64_t value) override {
        if (each == wanted) found = value;
      }
      std::string wanted;
      std::uint64_t found = 0;
    } find;
    find.wanted = name;
    responder->visit_counters(find);
    return find.found;
  }
};

TEST_F(FaultTest, OperationsAreCountedUpToTheFirstUnion) {
  auto& requester = connect();
  EXPECT_TRUE(exchange(requester, compound(kXid)).results());
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
  requester.send(compound(kXid));
  for (std::uint32_t i = 1; i <= 1000; ++i) {
    EXPECT_EQ(exchange(requester, plain_call(kXid + i)).header.rdma_xid, kXid + i);
  }
  EXPECT_EQ(service.calls, 1000);
}

TEST_F(FaultTest, DelayedCallIsAnsweredInTheEnd) {
  fault("delay=20:times=1");
  fault("delay-reply=20:after=1:times=1");
  auto& requester = connect();
  requester.send(plain_call(kXid));
  requester.send(plain_call(kXid + 1));
  requester.send(plain_call(kXid + 2));
  EXPECT_EQ(next_reply(requester).header.rdma_xid, kXid + 2);
  next_reply(requester);
  next_reply(requester);
  EXPECT_EQ(service.calls, 3);
}

TEST_F(FaultTest, DroppedReplyIsExecutedAndNeverSent) {
  fault("drop-reply:times=1");
  auto& requester = connect();
  requester.send(plain_call(kXid));
  expect_silence(requester);
  EXPECT_EQ(service.calls, 1);
  EXPECT_EQ(fault_count("fault_1_drop-reply"), 1U);
}

TEST_F(FaultTest, DuplicateReplyComesTwice) {
  fault("duplicate-reply:times=1");
  auto& requester = connect();
  const auto first = exchange(requester, plain_call(kXid));
  EXPECT_EQ(next_reply(requester).octets, first.octets);
  EXPECT_EQ(service.calls, 1);
  expect_silence(requester);
}

TEST_F(FaultTest, DisconnectBeforeDoesNotExecute) {
  fault("disconnect=before:op=LOOKUP");
  auto& requester = connect();
  EXPECT_TRUE(exchange(requester, plain_call(kXid)).results());
  requester.send(compound(kXid + 1));
  run_until([&] { return requester.down(); });
  EXPECT_EQ(service.calls, 1);
  EXPECT_EQ(requester.arrived(), 0U);
}

TEST_F(FaultTest, DisconnectAfterExecutesAndDoesNotAnswer) {
  fault("disconnect=after");
  auto& requester = connect();
  requester.send(plain_call(kXid));
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
  EXPECT_TRUE(exchange(connect(), plain_call(kXid)).results());
}

TEST_F(FaultTest, RpcAndTransportErrorsInsteadOfExecution) {
  auto& requester = connect();
  fault("rpc-error=system_err:times=1");
  auto results = exchange(requester, plain_call(kXid)).results();
  ASSERT_FALSE(results);
  EXPECT_TRUE(results.error().is(Layer::rpc, static_cast<int>(rpc::Fault::system_err)));
  responder->clear_faults();
  fault("rpc-error=auth:times=1");
  results = exchange(requester, plain_call(kXid)).results();
  ASSERT_FALSE(results);
  EXPECT_TRUE(results.error().is(Layer::rpc, static_cast<int>(rpc::Fault::auth_error)));
  responder->clear_faults();
  fault("rdma-error=version:times=1");
  expect_error(requester, plain_call(kXid), rdma::ERR_VERS);
  responder->clear_faults();
  fault("rdma-error=chunk:times=1");
  expect_error(requester, plain_call(kXid), rdma::ERR_CHUNK);
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
  exchange(requester, compound(kXid));
  exchange(requester, compound(kXid));
  ASSERT_EQ(forced.size(), 4U);
  EXPECT_EQ(forced[0], nfs4::NFS4ERR_DELAY);
  EXPECT_FALSE(forced[1]);
  EXPECT_FALSE(forced[2]);
}

// F-7, D05-3.3-1
TEST_F(FaultTest, ZeroGrantIsSentWhenAskedFor) {
  fault("zero-grant:times=1");
  auto& requester = connect();
  EXPECT_EQ(exchange(requester, plain_call(kXid)).header.rdma_credit, 0U);
  EXPECT_EQ(exchange(requester, plain_call(kXid)).header.rdma_credit, 16U);
}

TEST_F(FaultTest, StoppedResponderAnswersWhenItGoesOn) {
  auto& requester = connect();
  auto& leaver = connect();
  EXPECT_TRUE(exchange(requester, plain_call(kXid)).results());
  responder->stop_answering();
  for (std::uint32_t i = 0; i < 5; ++i) requester.send(plain_call(kXid + i));
  leaver.send(plain_call(kXid));
  const auto whole = plain_call(kXid).size();
  run_until([&] { return counters().inline_received_octets.value() == 7 * whole; });
  leaver.endpoint().disconnect(Error::local(ECANCELED, "test"));
  run_until([&] { return responder->connections() == 1; });
  EXPECT_EQ(service.calls, 1);
  EXPECT_EQ(requester.arrived(), 0U);
  responder->resume_answering();
  for (std::uint32_t i = 0; i < 5; ++i) EXPECT_EQ(next_reply(requester).header.rdma_xid, kXid + i);
}

TEST_F(FaultTest, MalformedTruncated) { EXPECT_EQ(spoiled("truncated").octets.size(), 20U); }

TEST_F(FaultTest, MalformedWrongXid) {
  const auto reply = spoiled("wrong-xid");
  EXPECT_EQ(reply.fault, rdma::HeaderFault::none);
  EXPECT_NE(reply.header.rdma_xid, kXid);
}

TEST_F(FaultTest, MalformedWrongRpcXid) {
  const auto reply = spoiled("wrong-rpc-xid");
  EXPECT_EQ(reply.header.rdma_xid, kXid);
  EXPECT_FALSE(reply.results());
}

TEST_F(FaultTest, MalformedWrongVersion) {
  EXPECT_EQ(spoiled("wrong-version").fault, rdma::HeaderFault::version);
}

TEST_F(FaultTest, MalformedWrongProc) {
  EXPECT_EQ(spoiled("wrong-proc").fault, rdma::HeaderFault::undefined_proc);
}

TEST_F(FaultTest, MalformedBadChunks) {
  EXPECT_EQ(spoiled("bad-chunks").fault, rdma::HeaderFault::malformed);
}

TEST_F(FaultTest, MalformedReadList) {
  EXPECT_EQ(spoiled("read-list").header.chunks.read_count, 1U);
}

TEST_F(FaultTest, MalformedMissingChunk) {
  EXPECT_EQ(spoiled("missing-chunk").header.chunks.write_count, 0U);
}

TEST_F(FaultTest, MalformedMissingSegment) {
  EXPECT_EQ(spoiled("missing-segment").header.chunks.rdma_writes()[0].count, 1U);
}

TEST_F(FaultTest, MalformedChangedHandle) {
  const auto reply = spoiled("changed-handle");
  const auto segments = reply.header.chunks.rdma_writes()[0].segments();
  EXPECT_EQ(segments[0].handle, segments[1].handle + 1);
}

TEST_F(FaultTest, MalformedLengths) {
  EXPECT_GT(spoiled("long-length").header.chunks.rdma_writes()[0].segments()[0].length, 10U);
  EXPECT_EQ(spoiled("short-length").header.chunks.rdma_writes()[0].length(), 9U);
}

TEST_F(FaultTest, MalformedWritePad) {
  EXPECT_EQ(spoiled("write-pad").header.chunks.rdma_writes()[0].length(), 16U);
}

TEST_F(FaultTest, MalformedInlineResult) {
  const auto reply = spoiled("inline-result");
  EXPECT_EQ(reply.header.chunks.rdma_writes()[0].length(), 0U);
  EXPECT_EQ(reply.message.size(), rpc::kAcceptedReplyHeader + 4 + 16);
}

TEST_F(FaultTest, MalformedRpcAndResults) {
  EXPECT_FALSE(spoiled("rpc").results());
  EXPECT_LT(spoiled("results").message.size(), rpc::kAcceptedReplyHeader);
}

// V1-4.5.3-2: larger than the client's receive: the connection ends.
TEST_F(FaultTest, MalformedOversize) {
  auto& requester = connect();
  fault("malformed=oversize:times=1");
  requester.send(plain_call(kXid));
  run_until([&] { return requester.down(); });
}

TEST_F(FaultTest, MalformedShortReplyChunk) {
  auto& requester = connect();
  fault("malformed=short-reply-chunk");
  const auto call = call_with_chunks(requester);
  service.on_call = [](ServerCall& each) {
    each.results().reserve(4000);
    each.results().u32(0);
    each.reply(rpc::AcceptStat::success);
  };
  const auto reply = exchange(requester, call);
  ASSERT_EQ(reply.header.proc, rdma::RDMA_NOMSG);
  EXPECT_EQ(reply.header.chunks.rdma_reply.length(), rpc::kAcceptedReplyHeader + 4000);
}

}  // namespace
}  // namespace nfsrdma::responder
