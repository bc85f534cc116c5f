// Fault scripts: their text form and their counting; the memory of failed calls.
#include <gtest/gtest.h>

#include <chrono>

#include "tests/responder/transport/failed_calls.h"
#include "tests/responder/transport/fault_kinds.h"
#include "tests/responder/transport/fault_script.h"

namespace nfsrdma::responder {
namespace {

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
                           "delay=-5",
                           "credits=1,,2",
                           "credits=1,x",
                           "cb-credits=",
                           "reorder=0",
                           "replay-cache=on",
                           "unstable=kept",
                           "result=short",
                           "result=long:1",
                           "flags=CB_PATH",
                           "flags=",
                           "slots=lowest:1",
                           "slots=",
                           "clock=1.5",
                           "lie=nothing-of-the-kind",
                           "write=lose",
                           "write=cut",
                           "write=cut:-1",
                           "write=drop:1",
                           "write=stag:x",
                           "read=drop",
                           "send-done=soon",
                           "private-data=xyz",
                           "private-data=123",
                           "private-data=send:1024",
                           "invalidate=all",
                           "receives=none",
                           "resources=all",
                           "wire=badcrc:1",
                           "wire=split",
                           "disconnect=mid-write"}) {
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
    if (script.decide(OperationList()).drop_reply) fired.push_back(call);
  }
  EXPECT_EQ(fired, (std::vector<int>{5, 8}));
  EXPECT_EQ(script.fired(*id), 2U);
  EXPECT_TRUE(script.remove(*id));
  EXPECT_FALSE(script.remove(*id));
}

TEST(FaultScriptTest, EveryKindOfTheHelpCanBeAdded) {
  FaultScript script;
  for (std::string kind : fault_kinds()) {
    const auto put = [&kind](std::string_view what, std::string_view value) {
      const auto at = kind.find(what);
      if (at != std::string::npos) kind.replace(at, what.size(), value);
    };
    put("lie=NAME", "lie=another-slot");
    put("=N[,N...]", "=5,6");
    put("=NAME[,NAME...]", "=CB_PATH_DOWN,DEVID_DELETED");
    put("highest:N,target:N", "highest:1,target:1");
    put("send:N,recv:M", "send:1024,recv:2048");
    put("=HEX", "=f6ab0e18");
    put("OPERATION", "READ");
    put("STATUS", "13");
    put("BYTES", "8");
    put("SECONDS", "5");
    put("=MS", "=5");
    put("=N", "=5");
    put(":N", ":5");
    put(":+N", ":+5");
    const auto added = script.add(kind);
    EXPECT_TRUE(added) << kind << ": " << added.error().message();
  }
}

TEST(FaultScriptTest, AStatusThatThereIsNotIsToldByWhatWasMeant) {
  FaultScript script;
  const auto added = script.add("nfsstat=ENOSPC:op=WRITE");
  ASSERT_FALSE(added);
  EXPECT_NE(added.error().message().find("is no status: did you mean NFS4ERR_NOSPC?"),
            std::string::npos)
      << added.error().message();
}

TEST(FaultScriptTest, ValueMayHaveColonsInFrontOfTheOptions) {
  FaultScript script;
  ASSERT_TRUE(script.add("write=stag:+3:op=READ:times=1"));
  const FaultRule& rule = script.rules().front();
  EXPECT_EQ(rule.value, "stag:+3");
  EXPECT_EQ(rule.fabric.amount, 3);
  EXPECT_EQ(rule.times, 1U);
  ASSERT_TRUE(script.add("slots=highest:7,target:1"));
  EXPECT_EQ(script.rules().back().value, "highest:7,target:1");
}

TEST(FaultScriptTest, CreditsAreGrantedInTurn) {
  FaultScript script;
  ASSERT_TRUE(script.add("credits=64,1,0xffffffff"));
  EXPECT_FALSE(script.credits());
  std::vector<std::uint32_t> granted;
  for (int call = 0; call < 4; ++call) granted.push_back(*script.decide(OperationList()).grant);
  EXPECT_EQ(granted, (std::vector<std::uint32_t>{64, 1, 0xffffffff, 64}));
}

TEST(FaultScriptTest, PostsAreCountedByPlace) {
  FaultScript script;
  ASSERT_TRUE(script.add("write=drop:after=1:times=1"));
  EXPECT_TRUE(script.decide(faults::At::send).empty());
  EXPECT_TRUE(script.decide(faults::At::write).empty());
  ASSERT_EQ(script.decide(faults::At::write).size(), 1U);
  EXPECT_TRUE(script.decide(faults::At::write).empty());
  EXPECT_EQ(script.fired(1), 1U);
}

TEST(FaultScriptTest, RuleMatchesItsOperationOnly) {
  FaultScript script;
  ASSERT_TRUE(script.add("delay=10:op=LOOKUP"));
  ASSERT_TRUE(script.add("delay=5"));
  ASSERT_TRUE(script.add("drop-reply:op=NULL"));
  OperationList lookup;
  lookup.add(nfs4::OP_SEQUENCE);
  lookup.add(nfs4::OP_LOOKUP);
  EXPECT_EQ(script.decide(lookup).delay, std::chrono::milliseconds(15));
  EXPECT_FALSE(script.decide(lookup).drop_reply);
  EXPECT_TRUE(script.decide(OperationList()).drop_reply);
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
  EXPECT_FALSE(script.decide(OperationList()).disconnect_before);
}

// F-25: the only candidate at once, one of several at the second time; other clients never.
TEST(FailedCallsTest, BlamesTheOnlyCandidateOrTheRepeatedOne) {
  FailedCalls failed;
  failed.note_loss("10.0.0.1", 1, true);
  failed.note_loss("10.0.0.1", 2, false);
  EXPECT_TRUE(failed.blamed("10.0.0.1", 1));
  EXPECT_FALSE(failed.blamed("10.0.0.1", 2));
  EXPECT_FALSE(failed.blamed("10.0.0.2", 1));
  failed.note_loss("10.0.0.1", 2, false);
  EXPECT_TRUE(failed.blamed("10.0.0.1", 2));
  for (std::uint32_t xid = 100; xid < 100 + FailedCalls::kRemembered; ++xid) {
    failed.note_loss("10.0.0.1", xid, true);
  }
  EXPECT_FALSE(failed.blamed("10.0.0.1", 1));
}

}  // namespace
}  // namespace nfsrdma::responder
