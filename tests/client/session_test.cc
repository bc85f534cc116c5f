// How a session is made, used, resumed and made anew, against a fake server in virtual time.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "client/files/open_files.h"
#include "client/requests/create.h"
#include "client/requests/getattr.h"
#include "client/requests/lookup.h"
#include "client/requests/remove.h"
#include "client/session/session.h"
#include "tests/client/fake_mount.h"
#include "transport/base/log_limit.h"

namespace nfsrdma::client::test {
namespace {

using namespace nfs4;
using std::chrono::milliseconds;
using std::chrono::seconds;

class SessionTest : public FakeMount {};

std::vector<nfs_opnum4> first_operations(const std::vector<Arrival>& arrivals) {
  std::vector<nfs_opnum4> first;
  for (const Arrival& arrival : arrivals) first.push_back(arrival.operations.at(0));
  return first;
}

TEST_F(SessionTest, IsMadeInTheOrderOfTheRfc) {
  start();
  const auto& all = server_.arrivals();
  ASSERT_GE(all.size(), 4U);
  EXPECT_EQ(all[0].operations, std::vector{OP_EXCHANGE_ID});
  EXPECT_EQ(all[1].operations, std::vector{OP_CREATE_SESSION});
  EXPECT_EQ(all[2].operations, (std::vector{OP_SEQUENCE, OP_RECLAIM_COMPLETE}));
  EXPECT_EQ(all[3].operations, (std::vector{OP_SEQUENCE, OP_PUTROOTFH, OP_GETFH, OP_GETATTR}));
}

// E-8881-9, E-8881-12, E-8881-13, E-8267-13, BD-14
TEST_F(SessionTest, AsksForTheRightChannels) {
  start();
  const CREATE_SESSION4args& args = server_.session_args();
  EXPECT_EQ(args.csa_flags, CREATE_SESSION4_FLAG_CONN_BACK_CHAN);
  EXPECT_EQ(args.csa_fore_chan_attrs.ca_headerpadsize, 0U);
  EXPECT_EQ(args.csa_back_chan_attrs.ca_headerpadsize, 0U);
  EXPECT_GT(args.csa_fore_chan_attrs.ca_maxrequestsize, 1U << 20);
  EXPECT_GT(args.csa_fore_chan_attrs.ca_maxresponsesize, 1U << 20);
  EXPECT_EQ(args.csa_fore_chan_attrs.ca_maxrequests, kSlots);
  EXPECT_LE(args.csa_back_chan_attrs.ca_maxrequestsize, 4096U);
  EXPECT_LE(args.csa_back_chan_attrs.ca_maxresponsesize, 4096U);
  EXPECT_FALSE(args.csa_fore_chan_attrs.ca_rdma_ird);
}

// E-8881-10, E-8881-11: reduced sizes bound READ and WRITE.
TEST_F(SessionTest, HonoursReducedLimits) {
  server_.adjust_session = [](const CREATE_SESSION4args&, CREATE_SESSION4resok& result) {
    result.csr_fore_chan_attrs.ca_maxrequestsize = 65536;
    result.csr_fore_chan_attrs.ca_maxresponsesize = 131072;
    result.csr_fore_chan_attrs.ca_maxrequests = 2;
  };
  start();
  EXPECT_LT(mount().wsize(), 65536U);
  EXPECT_GT(mount().wsize(), 32768U);
  EXPECT_LT(mount().rsize(), 131072U);
  EXPECT_GT(mount().rsize(), 65536U);
  EXPECT_EQ(counter("session_slots_usable"), 2U);
}

// E-8881-11
TEST_F(SessionTest, RefusesRaisedLimits) {
  server_.adjust_session = [](const CREATE_SESSION4args&, CREATE_SESSION4resok& result) {
    ++result.csr_fore_chan_attrs.ca_maxresponsesize;
  };
  auto started = try_start();
  stopped_ = true;
  ASSERT_FALSE(started);
  EXPECT_STREQ(started.error().step, "CREATE_SESSION");
  EXPECT_NE(started.error().detail.find("ca_maxresponsesize"), std::string::npos);
}

TEST_F(SessionTest, RefusesARaisedBackChannel) {
  server_.adjust_session = [](const CREATE_SESSION4args&, CREATE_SESSION4resok& result) {
    ++result.csr_back_chan_attrs.ca_maxrequestsize;
  };
  auto started = try_start();
  stopped_ = true;
  ASSERT_FALSE(started);
  EXPECT_NE(started.error().detail.find("back channel"), std::string::npos);
}

TEST_F(SessionTest, SaysWhichStepOfTheMountFailed) {
  server_.fail(OP_EXCHANGE_ID, NFS4ERR_CLID_INUSE);
  auto started = try_start();
  stopped_ = true;
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().message(),
            "EXCHANGE_ID: NFS4ERR_CLID_INUSE (another client uses this identity; mount again "
            "when its lease has ended)");
}

TEST_F(SessionTest, AMountThatGetsNoAnswerEndsInTime) {
  server_.fate = [](const Arrival& arrival) {
    return arrival.has(OP_CREATE_SESSION) ? Fate::hold : Fate::answer;
  };
  const TimePoint before = reactor_.now();
  auto started = try_start();
  stopped_ = true;
  ASSERT_FALSE(started);
  EXPECT_STREQ(started.error().step, "CREATE_SESSION");
  EXPECT_LE(reactor_.now() - before, mount().config().start_timeout + seconds(60));
}

TEST_F(SessionTest, AnUnreachableServerIsAnErrorAtOnce) {
  server_.unreachable = true;
  auto started = try_start();
  stopped_ = true;
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().layer, Layer::fabric);
}

TEST_F(SessionTest, StopDestroysSessionAndClientId) {
  start();
  ASSERT_TRUE(run(mount().stop()));
  stopped_ = true;
  EXPECT_EQ(first_operations(arrivals()), (std::vector{OP_DESTROY_SESSION, OP_DESTROY_CLIENTID}));
}

TEST_F(SessionTest, StopEndsInTimeWhenTheServerIsSilent) {
  start();
  server_.fate = [](const Arrival&) { return Fate::hold; };
  Pending<Result<Attributes>> waiting(getattr(mount(), {}, handle(1)));
  Pending<Result<void>> stopping(mount().stop());
  reactor_.advance(mount().config().stop_timeout + milliseconds(1));
  reactor_.settle();
  stopped_ = true;
  ASSERT_TRUE(stopping.done());
  EXPECT_FALSE(stopping.value());
  ASSERT_TRUE(waiting.done());
  EXPECT_FALSE(waiting.value());
}

/// Time until a mount with so many open files has ended whose server takes most of the patience for
/// each answer.
class SlowFarewell : public SessionTest {
 protected:
  Duration stop(std::uint32_t opens) {
    start();
    std::vector<OpenRef> files;
    for (std::uint32_t i = 0; i < opens; ++i) {
      files.push_back(mount().opens().merge({}, handle(static_cast<int>(i)),
                                            OPEN4_SHARE_ACCESS_READ, stateid4{1, {}}));
    }
    files.clear();
    server_.fate = [](const Arrival&) { return Fate::hold; };
    const TimePoint begun = reactor_.now();
    Pending<Result<void>> stopping(mount().stop());
    while (!stopping.done() && reactor_.now() - begun < std::chrono::hours(1)) {
      reactor_.advance(kAnswer);
      server_.release();
      reactor_.settle();
    }
    stopped_ = stopping.done();
    EXPECT_TRUE(stopped_);
    complete_ = stopped_ && stopping.value().has_value();
    return reactor_.now() - begun;
  }
  const Duration patience_ = mount().config().stop_timeout;
  const Duration kAnswer = patience_ * 2 / 3;
  bool complete_ = false;
};

// P4: as long as a server answers it is told everything, in bounded time all the same.
TEST_F(SlowFarewell, GoesOn) {
  EXPECT_GT(stop(3), patience_);
  EXPECT_EQ(server_.executions_of(OP_CLOSE), 3U);
  EXPECT_TRUE(complete_);
}

TEST_F(SlowFarewell, Ends) {
  EXPECT_LE(stop(100), Mount::kMostPatiences * patience_ + kAnswer);
  EXPECT_FALSE(complete_);
}

TEST_F(SessionTest, SequenceNumbersRiseByOneOnEverySlot) {
  start();
  std::vector<std::unique_ptr<Pending<Result<Attributes>>>> many;
  for (int i = 0; i < 200; ++i) {
    many.push_back(
        std::make_unique<Pending<Result<Attributes>>>(getattr(mount(), {}, handle(i % 100))));
  }
  reactor_.settle();
  for (auto& one : many) {
    ASSERT_TRUE(one->done());
    EXPECT_TRUE(one->value());
  }
  std::set<std::uint32_t> xids;
  for (const Arrival& arrival : server_.arrivals()) xids.insert(arrival.xid);
  EXPECT_EQ(xids.size(), server_.arrivals().size());
  EXPECT_EQ(xids.count(0), 0U);
}

// One slot is kept back from ordinary requests.
TEST_F(SessionTest, LeavesASlotForRenewal) {
  start();
  server_.fate = [](const Arrival&) { return Fate::hold; };
  std::vector<std::unique_ptr<Pending<Result<Attributes>>>> many;
  for (std::uint32_t i = 0; i < 3 * kSlots; ++i) {
    many.push_back(std::make_unique<Pending<Result<Attributes>>>(getattr(mount(), {}, handle(1))));
  }
  reactor_.settle();
  EXPECT_EQ(arrivals().size(), kSlots - 1);
  server_.fate = nullptr;
  server_.release();
  reactor_.settle();
  for (auto& one : many) EXPECT_TRUE(one->done());
}

// sr_target_highest_slotid is a slot id, the table's size a number of slots: the largest target
// that names no slot is the first that must be cut.
TEST_F(SessionTest, ATargetBeyondTheTableIsCut) {
  start();
  for (const slotid4 target : {kSlots - 1, kSlots, kSlots + 1}) {
    server_.target_highest_slotid = target;
    ASSERT_TRUE(run(getattr(mount(), {}, handle(1))));
    EXPECT_EQ(counter("session_slots_usable"), kSlots) << target;
  }
}

// E-8881-8, and sr_target_highest_slotid
TEST_F(SessionTest, ShrinksAndGrowsWithTheServersTarget) {
  start();
  server_.target_highest_slotid = 1;
  ASSERT_TRUE(run(getattr(mount(), {}, handle(1))));
  EXPECT_EQ(counter("session_slots_usable"), 2U);
  server_.target_highest_slotid = 0;
  ASSERT_TRUE(run(getattr(mount(), {}, handle(1))));
  EXPECT_EQ(counter("session_slots_usable"), 1U);
  ASSERT_TRUE(run(getattr(mount(), {}, handle(1)))) << "one slot is enough";
  server_.target_highest_slotid = 63;
  ASSERT_TRUE(run(getattr(mount(), {}, handle(1))));
  EXPECT_EQ(counter("session_slots_usable"), kSlots);
}

TEST_F(SessionTest, WaitsLongerAndLongerWhenTheServerAsksForPatience) {
  start();
  server_.fail(OP_GETATTR, NFS4ERR_DELAY, 10);
  ASSERT_TRUE(run(getattr(mount(), {}, handle(1))));
  const auto calls = arrivals();
  ASSERT_EQ(calls.size(), 11U);
  Duration expected = milliseconds(100);
  for (std::size_t i = 1; i < calls.size(); ++i) {
    EXPECT_EQ(calls[i].at - calls[i - 1].at, expected);
    EXPECT_NE(calls[i].xid, calls[i - 1].xid);
    expected = std::min<Duration>(2 * expected, seconds(15));
  }
}

// Not at once: until there is memory it would do nothing else.
TEST_F(SessionTest, WaitsLongerAndLongerWhenACallCannotBeSent) {
  start();
  int refusals = 8;
  server_.fate = [&refusals](const Arrival& arrival) {
    return arrival.has(OP_GETATTR) && refusals-- > 0 ? Fate::refuse : Fate::answer;
  };
  ASSERT_TRUE(run(getattr(mount(), {}, handle(1))));
  const auto calls = arrivals();
  ASSERT_EQ(calls.size(), 9U);
  Duration expected = milliseconds(100);
  for (std::size_t i = 1; i < calls.size(); ++i) {
    EXPECT_EQ(calls[i].at - calls[i - 1].at, expected);
    EXPECT_EQ(calls[i].bytes, calls[i - 1].bytes);
    EXPECT_EQ(calls[i].connection, 1);
    expected = std::min<Duration>(2 * expected, seconds(15));
  }
}

TEST_F(SessionTest, StopEndsACallThatCannotBeSent) {
  start();
  server_.fate = [](const Arrival& arrival) {
    return arrival.has(OP_GETATTR) ? Fate::refuse : Fate::answer;
  };
  Pending<Result<Attributes>> waiting(getattr(mount(), {}, handle(1)));
  reactor_.advance(seconds(5));
  EXPECT_FALSE(waiting.done());
  ASSERT_TRUE(run(mount().stop()));
  stopped_ = true;
  EXPECT_TRUE(waiting.done());
}

// A server may put a request off for as long as it gets a delegation back: a lease. After that a
// request of limited patience counts as unanswered; the others go on waiting.
TEST_F(SessionTest, DelayForMoreThanALeaseCountsAsNoAnswer) {
  start();
  server_.fail(OP_GETATTR, NFS4ERR_DELAY, 1'000'000);
  const TimePoint begun = reactor_.now();
  Pending<Result<Attributes>> asking(getattr(mount(), {}, handle(1)));
  reactor_.advance(seconds(80));
  EXPECT_LE(reactor_.now() - mount().waiting_since(), seconds(15)) << "answered, with DELAY";
  reactor_.advance(seconds(300));
  ASSERT_FALSE(asking.done());
  EXPECT_GE(reactor_.now() - mount().waiting_since(), seconds(250));
  EXPECT_LT(mount().waiting_since() - begun, seconds(120));
  server_.fail(OP_GETATTR, NFS4ERR_DELAY, 0);
  reactor_.advance(seconds(15));
  ASSERT_TRUE(asking.done());
  EXPECT_TRUE(asking.value());
}

TEST_F(SessionTest, GraceIsWaitedFor) {
  start();
  server_.fail(OP_GETATTR, NFS4ERR_GRACE, 3);
  EXPECT_TRUE(run(getattr(mount(), {}, handle(1))));
  EXPECT_EQ(counter("session_requests_delayed"), 3U);
}

// The file is open at the server: tried again as the Linux client does, 1.5 s in all.
TEST_F(SessionTest, AFileThatIsInUseIsTriedAgainForAWhile) {
  start();
  server_.fail(OP_REMOVE, NFS4ERR_FILE_OPEN, 4);
  const TimePoint begun = reactor_.now();
  EXPECT_TRUE(run(remove(mount(), {}, handle(1), "name")));
  EXPECT_EQ(arrivals().size(), 5U);
  EXPECT_EQ(arrivals().back().at - begun, milliseconds(1500));
  server_.fail(OP_REMOVE, NFS4ERR_FILE_OPEN, 10);
  auto removed = run(remove(mount(), {}, handle(1), "name"));
  ASSERT_FALSE(removed);
  EXPECT_TRUE(removed.error().is(Layer::nfs, NFS4ERR_FILE_OPEN));
  EXPECT_EQ(arrivals().size(), 10U) << "not for ever";
}

TEST_F(SessionTest, DelayOfSequenceKeepsSlotAndNumber) {
  start();
  server_.fail(OP_SEQUENCE, NFS4ERR_DELAY, 2);
  ASSERT_TRUE(run(getattr(mount(), {}, handle(1))));
  const auto calls = arrivals();
  ASSERT_EQ(calls.size(), 3U);
  EXPECT_EQ(calls[0].sequence->sa_slotid, calls[2].sequence->sa_slotid);
  EXPECT_EQ(calls[0].sequence->sa_sequenceid, calls[2].sequence->sa_sequenceid);
}

// A directory that was made is not made again because its attributes were late.
TEST_F(SessionTest, DelayBehindAChangeDoesNotRepeatTheChange) {
  start();
  server_.fail(OP_GETATTR, NFS4ERR_DELAY, 1);
  ASSERT_TRUE(run(make_directory(mount(), {}, handle(1), "d", 0755)));
  EXPECT_EQ(server_.executions_of(OP_CREATE), 1U);
}

// V1-4.5.5-1, E-8881-14, E-8881-2: bound first, then the same bytes, executed once.
TEST_F(SessionTest, ResumesAfterALostConnection) {
  start();
  bool cut = false;
  server_.fate = [&cut](const Arrival& arrival) {
    if (cut || !arrival.has(OP_CREATE)) return Fate::answer;
    cut = true;
    return Fate::disconnect_after;
  };
  ASSERT_TRUE(run(make_directory(mount(), {}, handle(1), "d", 0755)));
  const auto calls = arrivals();
  ASSERT_EQ(calls.size(), 3U);
  EXPECT_EQ(calls[1].operations, std::vector{OP_BIND_CONN_TO_SESSION});
  EXPECT_EQ(calls[0].connection, 1);
  EXPECT_EQ(calls[2].connection, 2);
  EXPECT_EQ(calls[0].bytes, calls[2].bytes);
  EXPECT_EQ(server_.executions_of(OP_CREATE), 1U);
  EXPECT_EQ(counter("session_losses"), 0U);
}

TEST_F(SessionTest, NothingIsResentOnALivingConnection) {
  start();
  server_.fate = [](const Arrival& arrival) {
    return arrival.has(OP_GETATTR) ? Fate::hold : Fate::answer;
  };
  Pending<Result<Attributes>> waiting(getattr(mount(), {}, handle(1)));
  reactor_.advance(seconds(50));
  EXPECT_FALSE(waiting.done());
  EXPECT_EQ(server_.arrivals_of(OP_GETATTR).size(), 3U) << "two of the mount, one of this";
  server_.release();
  reactor_.settle();
  EXPECT_TRUE(waiting.done());
}

TEST_F(SessionTest, ManyRequestsSurviveManyLosses) {
  start();
  int count = 0;
  server_.fate = [&count](const Arrival& arrival) {
    if (!arrival.sequence) return Fate::answer;
    ++count;
    if (count % 7 == 0) return Fate::disconnect_before;
    return count % 5 == 0 ? Fate::disconnect_after : Fate::answer;
  };
  std::vector<std::unique_ptr<Pending<Result<Made>>>> many;
  for (int i = 0; i < 40; ++i) {
    many.push_back(
        std::make_unique<Pending<Result<Made>>>(make_directory(mount(), {}, handle(1), "d", 0755)));
  }
  reactor_.advance(std::chrono::hours(1));
  for (auto& one : many) {
    ASSERT_TRUE(one->done());
    EXPECT_TRUE(one->value()) << one->value().error().message();
  }
  EXPECT_EQ(server_.executions_of(OP_CREATE), 40U);
}

// A request whose reply ends the connection twice fails; others go on, and its slot is resolved.
TEST_F(SessionTest, APoisonCallFailsAndItsSlotIsResolved) {
  start();
  server_.fate = [](const Arrival& arrival) {
    return arrival.has(OP_CREATE) ? Fate::too_large : Fate::answer;
  };
  auto made = run(make_directory(mount(), {}, handle(1), "d", 0755));
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().layer, Layer::fabric);
  EXPECT_EQ(server_.arrivals_of(OP_CREATE).size(), 2U);
  const auto slot = server_.arrivals_of(OP_CREATE)[0].sequence->sa_slotid;
  expect_clean_ = false;  // a taken number is resolved, on purpose, by another request with it
  reactor_.advance(seconds(1));
  const auto calls = arrivals();
  EXPECT_EQ(calls.back().operations, std::vector{OP_SEQUENCE});
  EXPECT_EQ(calls.back().sequence->sa_slotid, slot);
  EXPECT_EQ(counter("session_slots_resolved"), 1U);
  EXPECT_EQ(counter("session_losses"), 0U);
  EXPECT_TRUE(run(getattr(mount(), {}, handle(1))));
}

TEST_F(SessionTest, AForgottenSessionIsMadeAnewWithTheSameClientId) {
  start();
  server_.forget(false);
  ASSERT_TRUE(run(getattr(mount(), {}, handle(1))));
  EXPECT_EQ(server_.arrivals_of(OP_EXCHANGE_ID).size(), 1U);
  EXPECT_EQ(server_.arrivals_of(OP_CREATE_SESSION).size(), 2U);
  EXPECT_EQ(server_.arrivals_of(OP_RECLAIM_COMPLETE).size(), 1U);
  EXPECT_EQ(server_.session_args().csa_sequence, 2U);
}

TEST_F(SessionTest, AForgottenClientIsMadeAnewWithReclaimComplete) {
  start();
  server_.forget(true);
  ASSERT_TRUE(run(getattr(mount(), {}, handle(1))));
  EXPECT_EQ(server_.arrivals_of(OP_EXCHANGE_ID).size(), 2U);
  EXPECT_EQ(server_.arrivals_of(OP_RECLAIM_COMPLETE).size(), 2U);
}

// NFS-Ganesha makes client ids of the second it was started in, and may be started twice in one.
// EXCHGID4_FLAG_CONFIRMED_R tells whether the server knew the client (RFC 8881 section 18.35.3).
TEST_F(SessionTest, AForgottenClientMayGetTheSameNumberAgain) {
  server_.repeat_clientids = true;
  start();
  server_.forget(true);
  ASSERT_TRUE(run(getattr(mount(), {}, handle(1))));
  EXPECT_EQ(server_.arrivals_of(OP_EXCHANGE_ID).size(), 2U);
  EXPECT_EQ(server_.arrivals_of(OP_RECLAIM_COMPLETE).size(), 2U);
}

TEST_F(SessionTest, AServerThatKeepsForgettingIsGivenUp) {
  start();
  server_.fail(OP_SEQUENCE, NFS4ERR_BADSESSION, 1000);
  auto attributes = run(getattr(mount(), {}, handle(1)));
  ASSERT_FALSE(attributes);
  EXPECT_LT(server_.arrivals_of(OP_CREATE_SESSION).size(), 20U);
}

// By this request: when the server keeps its sessions again, the mount goes on.
TEST_F(SessionTest, AServerThatKeptForgettingIsAskedAgain) {
  start();
  server_.fail(OP_SEQUENCE, NFS4ERR_BADSESSION, 1000);
  ASSERT_FALSE(run(getattr(mount(), {}, handle(1))));
  server_.fail(OP_SEQUENCE, NFS4_OK, 0);
  server_.forget(false);
  auto attributes = run(getattr(mount(), {}, handle(1)));
  EXPECT_TRUE(attributes) << attributes.error().message();
}

// A server may forget sessions as often as it likes, if requests succeed in between.
TEST_F(SessionTest, SessionsLostOneByOneAreNoReasonToGiveUp) {
  start();
  for (int i = 0; i < 10; ++i) {
    server_.forget(false);
    auto attributes = run(getattr(mount(), {}, handle(1)));
    ASSERT_TRUE(attributes) << i << ": " << attributes.error().message();
  }
  EXPECT_EQ(counter("session_losses"), 10U);
}

// RFC 8881 section 18.46.3: an answer for another slot, session or number is not this request's.
TEST_F(SessionTest, AnAnswerForAnotherSlotIsNotTaken) {
  start();
  slotid4 error = 1;
  server_.on<SEQUENCE4args, SEQUENCE4res>(
      [&error](const SEQUENCE4args& args, SEQUENCE4res& result) {
        result.sr_resok4.sr_sessionid = args.sa_sessionid;
        result.sr_resok4.sr_sequenceid = args.sa_sequenceid;
        result.sr_resok4.sr_slotid = args.sa_slotid + error;
        result.sr_resok4.sr_highest_slotid = result.sr_resok4.sr_target_highest_slotid = kSlots - 1;
      });
  auto attributes = run(getattr(mount(), {}, handle(1)));
  ASSERT_FALSE(attributes);
  EXPECT_EQ(attributes.error().layer, Layer::decode);
  EXPECT_STREQ(attributes.error().step, "SEQUENCE");
  error = 0;
  EXPECT_TRUE(run(getattr(mount(), {}, handle(1))));
}

TEST_F(SessionTest, FalseRetryMovesTheSlotOn) {
  start();
  server_.fail(OP_SEQUENCE, NFS4ERR_SEQ_FALSE_RETRY, 1);
  expect_clean_ = false;
  auto attributes = run(getattr(mount(), {}, handle(1)));
  EXPECT_TRUE(attributes);
}

// The change was made, its reply is gone: made again, it is found to be done.
TEST_F(SessionTest, AChangeWhoseReplyWasNotKeptIsFoundToBeDone) {
  start();
  expect_clean_ = false;
  server_.fail(OP_SEQUENCE, NFS4ERR_RETRY_UNCACHED_REP, 1);
  server_.fail(OP_REMOVE, NFS4ERR_NOENT, 1);
  auto removed = run(remove(mount(), {}, handle(1), "f"));
  EXPECT_TRUE(removed) << removed.error().message();
  EXPECT_EQ(counter("session_requests_uncertain"), 1U);
  server_.fail(OP_REMOVE, NFS4ERR_NOENT, 1);
  EXPECT_FALSE(run(remove(mount(), {}, handle(1), "f"))) << "this one was never executed before";
}

TEST_F(SessionTest, MisorderedIsNoEndlessLoop) {
  start();
  server_.fail(OP_SEQUENCE, NFS4ERR_SEQ_MISORDERED, 1000);
  EXPECT_FALSE(run(getattr(mount(), {}, handle(1))));
  EXPECT_LT(arrivals().size(), 100U);
}

TEST_F(SessionTest, BadSlotShrinksTheTable) {
  start();
  server_.fail(OP_SEQUENCE, NFS4ERR_BADSLOT, 1);
  EXPECT_TRUE(run(getattr(mount(), {}, handle(1))));
}

// NFS4ERR_BADSLOT says how many slots there are: those from the refused one on are not used again.
TEST_F(SessionTest, BadSlotOfAHigherSlotLeavesTheLowerOnes) {
  start();
  server_.target_highest_slotid = 2;  // in answers that are held
  bool hold = true;
  server_.fate = [&](const Arrival&) { return hold ? Fate::hold : Fate::answer; };
  std::vector<std::unique_ptr<Pending<Result<Attributes>>>> waiting;
  for (int i = 0; i < 3; ++i) {
    waiting.push_back(
        std::make_unique<Pending<Result<Attributes>>>(getattr(mount(), {}, handle(1))));
  }
  reactor_.settle();
  hold = false;
  server_.fail(OP_SEQUENCE, NFS4ERR_BADSLOT, 1);
  Pending<Result<Attributes>> refused(getattr(mount(), {}, handle(2)));
  reactor_.settle();
  ASSERT_EQ(arrivals().back().sequence->sa_slotid, 3U);
  EXPECT_EQ(counter("session_slots_usable"), 3U);
  EXPECT_FALSE(refused.done()) << "it waits for one of the three";
  server_.release();
  reactor_.settle();
  ASSERT_TRUE(refused.done());
  EXPECT_TRUE(refused.value());
  EXPECT_LT(arrivals().back().sequence->sa_slotid, 3U);
}

// E-8881-15: what changes something asks for its reply to be kept.
TEST_F(SessionTest, OnlyChangesAskForACachedReply) {
  start();
  ASSERT_TRUE(run(getattr(mount(), {}, handle(1))));
  ASSERT_TRUE(run(make_directory(mount(), {}, handle(1), "d", 0755)));
  EXPECT_FALSE(arrivals()[0].sequence->sa_cachethis);
  EXPECT_TRUE(arrivals()[1].sequence->sa_cachethis);
}

}  // namespace
}  // namespace nfsrdma::client::test
