// The state machine of a client id, step by step, against a fake server in virtual time.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "client/files/lock.h"
#include "client/files/open_files.h"
#include "client/requests/errno.h"
#include "client/requests/getattr.h"
#include "tests/client/forgetful_server.h"

namespace nfsrdma::client::test {
namespace {

using namespace nfs4;
using std::chrono::minutes;
using std::chrono::seconds;

TEST_F(RecoveryTest, OpensAreReclaimedBeforeReclaimComplete) {
  start();
  OpenRef file = must_open(1);
  forget_opens(true);
  EXPECT_TRUE(read_from(file));
  EXPECT_EQ(claims_, std::vector{CLAIM_PREVIOUS});
  std::vector<nfs_opnum4> order;
  for (const Arrival& arrival : arrivals()) {
    for (const nfs_opnum4 opnum : arrival.operations) {
      const bool step = opnum == OP_EXCHANGE_ID || opnum == OP_OPEN || opnum == OP_RECLAIM_COMPLETE;
      if (step) order.push_back(opnum);
    }
  }
  EXPECT_EQ(order, (std::vector{OP_OPEN, OP_EXCHANGE_ID, OP_OPEN, OP_RECLAIM_COMPLETE}));
  expect_one_reclaim_complete_for_each_client();
}

// OPEN_DOWNGRADE goes only to what was opened: each share access is reclaimed.
TEST_F(RecoveryTest, EveryShareAccessIsReclaimed) {
  start();
  OpenRef reader = must_open(1, kRead);
  OpenRef both = must_open(1, kBoth);
  OpenRef writer = must_open(1, kWrite);
  forget_opens(true);
  EXPECT_TRUE(read_from(reader));
  EXPECT_EQ(accesses_, (std::vector{kBoth, kWrite, kRead}));
}

// What the server lets one of them open it may refuse to the other: both would get EIO.
TEST_F(RecoveryTest, EachOpenIsGotBackWithTheGroupsThatItWasMadeWith) {
  start();
  Credential member;
  member.group_count = 1;
  std::vector<OpenRef> opened;
  for (const std::uint32_t access : {kRead, kBoth}) {
    member.groups[0] = access;
    opened.push_back(std::move(run(open(mount(), member, handle(1), access))->open));
  }
  forget_opens(true);
  previous_ = NFS4ERR_NO_GRACE;
  EXPECT_TRUE(read_from(opened.front()));
  EXPECT_EQ(claims_, (std::vector{CLAIM_PREVIOUS, CLAIM_FH, CLAIM_FH}));
  std::vector<std::uint32_t> groups;
  for (const Arrival& arrival : server_.arrivals_of(OP_OPEN)) {
    groups.push_back(arrival.caller.groups[0]);
  }
  EXPECT_EQ(groups, (std::vector{kRead, kBoth, kBoth, kBoth, kRead}));
}

/// How a server says that it does not give an open back: the grace period is over, it has no record
/// of this client, or another one has the file (RFC 8881 sections 8.4.2.1, 8.4.3).
class ReclaimCameToNothing : public RecoveryTest, public ::testing::WithParamInterface<nfsstat4> {};

TEST_P(ReclaimCameToNothing, TheFileIsOpenedAnewWithoutItsLocks) {
  server_.on<LOCK4args, LOCK4res>([](const LOCK4args&, LOCK4res& result) {
    result.resok4.lock_stateid = {1, {std::byte{100}}};
  });
  start();
  OpenRef file = must_open(1, kBoth);
  ASSERT_TRUE(run(lock(mount(), file.file(),
                       {.owner = {LockKind::posix, 1}, .range = {0, 9}, .exclusive = true})));
  forget_opens(true);
  previous_ = GetParam();
  EXPECT_TRUE(read_from(file));
  EXPECT_EQ(claims_, (std::vector{CLAIM_PREVIOUS, CLAIM_FH}));
  EXPECT_FALSE(file->lost());
  EXPECT_EQ(counter("locks_lost"), 1U) << "another client may have had it meanwhile";
  EXPECT_EQ(server_.executions_of(OP_LOCK), 1U);
  expect_one_reclaim_complete_for_each_client();
}

INSTANTIATE_TEST_SUITE_P(With, ReclaimCameToNothing,
                         ::testing::Values(NFS4ERR_NO_GRACE, NFS4ERR_RECLAIM_BAD,
                                           NFS4ERR_RECLAIM_CONFLICT));

/// What the server answers to a reclaim, and whether the open is lost then.
class ReclaimRefused : public RecoveryTest, public ::testing::WithParamInterface<nfsstat4> {};

TEST_P(ReclaimRefused, TheFileFailsAndAllElseGoesOn) {
  start();
  OpenRef file = must_open(1);
  forget_opens(true);
  previous_ = GetParam();
  auto data = read_from(file);
  ASSERT_FALSE(data);
  EXPECT_EQ(to_errno(data.error()), EIO);
  EXPECT_TRUE(file->lost());
  EXPECT_EQ(counter("opens_lost"), 1U);
  previous_ = NFS4_OK;
  EXPECT_TRUE(run(getattr(mount(), {}, handle(1))));
  OpenRef again = must_open(1);
  EXPECT_TRUE(read_from(again)) << "the next open starts afresh";
  EXPECT_LE(reactor_.now(), 2 * seconds(90));
  expect_one_reclaim_complete_for_each_client();
}

INSTANTIATE_TEST_SUITE_P(With, ReclaimRefused,
                         ::testing::Values(NFS4ERR_ADMIN_REVOKED, NFS4ERR_STALE, NFS4ERR_ACCESS,
                                           NFS4ERR_SHARE_DENIED, NFS4ERR_IO, NFS4ERR_SERVERFAULT,
                                           NFS4ERR_DELAY, NFS4ERR_GRACE, NFS4ERR_EXPIRED,
                                           NFS4ERR_STALE_CLIENTID));

TEST_F(RecoveryTest, WhatCannotBeOpenedAnewIsLost) {
  start();
  OpenRef file = must_open(1);
  forget_opens(true);
  previous_ = NFS4ERR_NO_GRACE;
  again_ = NFS4ERR_STALE;
  auto data = read_from(file);
  ASSERT_FALSE(data);
  EXPECT_EQ(to_errno(data.error()), EIO);
  EXPECT_TRUE(run(getattr(mount(), {}, handle(1))));
}

// P17: the server restarts again and again while opens are reclaimed.
TEST_F(RecoveryTest, ARestartDuringReclaimBeginsAgainAndEnds) {
  start();
  OpenRef file = must_open(1);
  forget_opens(true);
  int restarts = 0;
  server_.fate = [&](const Arrival& arrival) {
    if (arrival.has(OP_OPEN) && restarts < 1) {
      ++restarts;
      server_.forget(true);
    }
    return Fate::answer;
  };
  EXPECT_TRUE(read_from(file));
  EXPECT_EQ(restarts, 1);
  EXPECT_LE(reactor_.now(), 2 * seconds(90));
}

TEST_F(RecoveryTest, AServerThatRestartsAtEveryReclaimCostsTheOpenOnly) {
  start();
  OpenRef file = must_open(1);
  forget_opens(true);
  server_.fate = [&](const Arrival& arrival) {
    if (arrival.has(OP_OPEN)) server_.forget(true);
    return Fate::answer;
  };
  EXPECT_FALSE(read_from(file));
  EXPECT_TRUE(file->lost());
  EXPECT_TRUE(run(getattr(mount(), {}, handle(1))));
  EXPECT_LE(count(CLAIM_PREVIOUS), 2U);
}

TEST_F(RecoveryTest, AConnectionLostDuringReclaimIsGoneOnFrom) {
  start();
  OpenRef file = must_open(1);
  forget_opens(true);
  bool cut = false;
  server_.fate = [&cut](const Arrival& arrival) {
    if (cut || !arrival.has(OP_OPEN)) return Fate::answer;
    cut = true;
    return Fate::disconnect_after;
  };
  EXPECT_TRUE(read_from(file));
  EXPECT_FALSE(file->lost());
  expect_one_reclaim_complete_for_each_client();
}

// An unsteady network, or a server that is ended and started again and again: data that was
// written through the open would be lost with it.
TEST_F(RecoveryTest, ConnectionsLostDuringReclaimDoNotCostTheOpen) {
  constexpr int kCuts = 5;
  start();
  OpenRef file = must_open(1);
  forget_opens(true);
  int cuts = 0;
  server_.fate = [&](const Arrival& arrival) {
    if (!arrival.has(OP_OPEN) || cuts == kCuts) return Fate::answer;
    ++cuts;
    server_.forget(true);
    return Fate::disconnect_before;
  };
  EXPECT_TRUE(read_from(file));
  EXPECT_FALSE(file->lost());
  EXPECT_EQ(cuts, kCuts);
}

// While the server's grace period lasts: whose claim ends a connection goes last on the next one.
TEST_F(RecoveryTest, AClaimThatWasCutOffLetsTheOthersGoFirst) {
  start();
  OpenRef reader = must_open(1, kRead);
  OpenRef writer = must_open(2, kWrite);
  forget_opens(true);
  bool cut = false;
  server_.fate = [&](const Arrival& arrival) {
    if (cut || !arrival.has(OP_OPEN)) return Fate::answer;
    cut = true;
    return Fate::disconnect_after;
  };
  EXPECT_TRUE(read_from(reader));
  ASSERT_EQ(accesses_.size(), 3U);
  EXPECT_NE(accesses_[1], accesses_[0]);
  EXPECT_EQ(accesses_[2], accesses_[0]);
}

// So that the rest of the mount goes on.
TEST_F(RecoveryTest, AReclaimThatEndsEveryConnectionCostsTheOpenOnly) {
  start();
  OpenRef file = must_open(1);
  forget_opens(true);
  server_.fate = [](const Arrival& arrival) {
    return arrival.has(OP_OPEN) ? Fate::disconnect_before : Fate::answer;
  };
  EXPECT_FALSE(read_from(file));
  EXPECT_TRUE(file->lost());
  EXPECT_TRUE(run(getattr(mount(), {}, handle(1))));
  EXPECT_LE(reactor_.now(), 2 * seconds(90));
}

TEST_F(RecoveryTest, ALostReplyOfReclaimCompleteIsNoSecondExecution) {
  start();
  forget_opens(true);
  bool cut = false;
  server_.fate = [&](const Arrival& arrival) {
    if (cut || !arrival.has(OP_RECLAIM_COMPLETE)) return Fate::answer;
    cut = true;
    return Fate::disconnect_after;
  };
  bool complete = false;
  server_.on<RECLAIM_COMPLETE4args, RECLAIM_COMPLETE4res>(
      [&](const RECLAIM_COMPLETE4args&, RECLAIM_COMPLETE4res& result) {
        if (std::exchange(complete, true)) result.rcr_status = NFS4ERR_COMPLETE_ALREADY;
      });
  EXPECT_TRUE(run(getattr(mount(), {}, handle(1))));
  EXPECT_TRUE(complete);
}

// A state that one operation finds gone is opened anew; no other operation notices.
TEST_F(RecoveryTest, ARefusedStateidIsRecoveredAlone) {
  start();
  OpenRef file = must_open(1);
  forget_opens(false);
  EXPECT_TRUE(read_from(file));
  EXPECT_EQ(claims_, std::vector{CLAIM_FH});
  EXPECT_EQ(counter("session_losses"), 0U);
  EXPECT_EQ(counter("session_states_refused"), 1U);
}

// What the OPEN came to then says nothing of the file.
TEST_F(RecoveryTest, ARestartWhileAnOpenIsMadeAnewHasItReclaimed) {
  start();
  OpenRef file = must_open(1);
  forget_opens(false);
  server_.fate = [this, struck = false](const Arrival& arrival) mutable {
    if (struck || !arrival.has(OP_OPEN)) return Fate::answer;
    struck = true;
    server_.forget(true);
    return Fate::disconnect_before;
  };
  EXPECT_TRUE(read_from(file));
  EXPECT_FALSE(file->lost());
  EXPECT_EQ(count(CLAIM_PREVIOUS), 1U);
}

TEST_F(RecoveryTest, AnOpenRevokedByTheAdministratorIsFreedAndLost) {
  start();
  OpenRef file = must_open(1);
  forget_opens(false);
  refusal_ = NFS4ERR_ADMIN_REVOKED;
  EXPECT_FALSE(read_from(file));
  EXPECT_TRUE(file->lost());
  EXPECT_EQ(server_.executions_of(OP_FREE_STATEID), 1U);
  EXPECT_TRUE(claims_.empty());
}

// P19: in batches, and not again with every answer.
TEST_F(RecoveryTest, RevokedStatesAreFoundInBatches) {
  constexpr int kFiles = 70;
  start();
  std::vector<OpenRef> files;
  stateid4 stateid{1, {}};
  for (int i = 0; i < kFiles; ++i) {
    stateid.other[0] = static_cast<std::byte>(i + 1);
    files.push_back(mount().opens().merge({}, handle(i + 1), kRead, stateid));
  }
  forgotten_ = 3;
  refusal_ = NFS4ERR_ADMIN_REVOKED;
  server_.status_flags = SEQ4_STATUS_ADMIN_STATE_REVOKED;
  ASSERT_TRUE(run(getattr(mount(), {}, handle(1))));
  reactor_.settle();
  EXPECT_EQ(batches_, (std::vector<std::size_t>{32, 32, 6}));
  EXPECT_EQ(counter("opens_lost"), 3U);
  EXPECT_EQ(server_.executions_of(OP_FREE_STATEID), 3U);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(run(getattr(mount(), {}, handle(1))));
  EXPECT_EQ(batches_.size(), 3U);
  reactor_.advance(minutes(2));
  EXPECT_LE(batches_.size(), 3U * 6) << "looked for again, three times in a lease at most";
  server_.status_flags = 0;
}

// RFC 8881 section 18.48.3: one code for each stateid. More of them belong to none.
TEST_F(RecoveryTest, CodesThatNobodyAskedForAreIgnored) {
  start();
  OpenRef file = must_open(1);
  surplus_codes_ = 100;
  server_.status_flags = SEQ4_STATUS_ADMIN_STATE_REVOKED;
  ASSERT_TRUE(run(getattr(mount(), {}, handle(1))));
  server_.status_flags = 0;
  reactor_.settle();
  EXPECT_EQ(batches_, (std::vector<std::size_t>{1}));
  EXPECT_EQ(counter("opens_lost"), 0U);
  EXPECT_TRUE(read_from(file));
}

// An answer about a stateid that another OPEN of the file has replaced meanwhile is out of date.
TEST_F(RecoveryTest, AnAnswerAboutAReplacedStateidDoesNotCount) {
  start();
  OpenRef file = must_open(1);
  forgotten_ = last_state_;
  refusal_ = NFS4ERR_ADMIN_REVOKED;
  server_.fate = [](const Arrival& arrival) {
    return arrival.has(OP_TEST_STATEID) ? Fate::hold : Fate::answer;
  };
  server_.status_flags = SEQ4_STATUS_ADMIN_STATE_REVOKED;
  ASSERT_TRUE(run(getattr(mount(), {}, handle(1))));
  server_.status_flags = 0;
  reactor_.settle();
  ASSERT_EQ(batches_.size(), 1U);
  OpenRef again = must_open(1, kBoth);
  server_.release();
  reactor_.settle();
  EXPECT_EQ(counter("opens_lost"), 0U);
  EXPECT_EQ(server_.executions_of(OP_FREE_STATEID), 0U);
  EXPECT_TRUE(read_from(again));
}

TEST_F(RecoveryTest, ExpiredStatesAreFreedAndOpenedAnew) {
  start();
  OpenRef file = must_open(1);
  forget_opens(false);
  refusal_ = NFS4ERR_EXPIRED;
  server_.status_flags = SEQ4_STATUS_EXPIRED_ALL_STATE_REVOKED;
  ASSERT_TRUE(run(getattr(mount(), {}, handle(1))));
  server_.status_flags = 0;
  reactor_.settle();
  EXPECT_EQ(server_.executions_of(OP_FREE_STATEID), 1U);
  EXPECT_EQ(claims_, std::vector{CLAIM_FH});
  EXPECT_TRUE(read_from(file));
}

// A server that keeps sessions over its restart asks for reclaims all the same.
TEST_F(RecoveryTest, RestartReclaimNeededReclaimsWithinTheSession) {
  start();
  OpenRef file = must_open(1);
  forget_opens(false);
  server_.status_flags = SEQ4_STATUS_RESTART_RECLAIM_NEEDED;
  ASSERT_TRUE(run(getattr(mount(), {}, handle(1))));
  server_.status_flags = 0;
  EXPECT_TRUE(read_from(file));
  EXPECT_EQ(claims_, std::vector{CLAIM_PREVIOUS});
  EXPECT_EQ(server_.executions_of(OP_EXCHANGE_ID), 1U);
  EXPECT_EQ(server_.executions_of(OP_RECLAIM_COMPLETE), 2U);
}

// P2: the flag never goes away.
TEST_F(RecoveryTest, ACallbackPathThatStaysDownIsGivenUp) {
  start();
  server_.status_flags = SEQ4_STATUS_CB_PATH_DOWN;
  for (int second = 0; second < 60; ++second) {
    ASSERT_TRUE(run(getattr(mount(), {}, handle(1))));
    reactor_.advance(seconds(1));
  }
  EXPECT_EQ(server_.executions_of(OP_BIND_CONN_TO_SESSION), 3U) << "in one minute";
  for (int second = 0; second < 600; ++second) {
    ASSERT_TRUE(run(getattr(mount(), {}, handle(1))));
    reactor_.advance(seconds(1));
  }
  EXPECT_EQ(server_.executions_of(OP_BIND_CONN_TO_SESSION), 4U) << "one for the new connection";
  EXPECT_EQ(server_.executions_of(OP_CREATE_SESSION), 2U);
}

TEST_F(RecoveryTest, ABackChannelFaultIsANewSession) {
  start();
  server_.status_flags = SEQ4_STATUS_BACKCHANNEL_FAULT;
  ASSERT_TRUE(run(getattr(mount(), {}, handle(1))));
  reactor_.settle();
  EXPECT_EQ(server_.executions_of(OP_DESTROY_SESSION), 1U);
  EXPECT_EQ(server_.executions_of(OP_CREATE_SESSION), 2U);
  ASSERT_TRUE(run(getattr(mount(), {}, handle(1))));
  EXPECT_EQ(server_.executions_of(OP_CREATE_SESSION), 2U) << "once, though the flag stays";
}

TEST_F(RecoveryTest, AConnectionThatIsNotBoundIsBoundAnew) {
  start();
  server_.fail(OP_SEQUENCE, NFS4ERR_CONN_NOT_BOUND_TO_SESSION, 1);
  ASSERT_TRUE(run(getattr(mount(), {}, handle(1))));
  EXPECT_EQ(server_.executions_of(OP_BIND_CONN_TO_SESSION), 1U);
  EXPECT_EQ(counter("reconnects"), 0U);
  EXPECT_EQ(counter("session_losses"), 0U);
}

// P15: what is on the wire is answered before its session goes; nothing has the old id afterwards.
TEST_F(RecoveryTest, RequestsOnTheWireAreWaitedFor) {
  start();
  int held = 0;
  server_.fate = [&held](const Arrival& arrival) {
    return arrival.has(OP_GETATTR) && ++held <= 3 ? Fate::hold : Fate::answer;
  };
  std::vector<std::unique_ptr<Pending<Result<Attributes>>>> early;
  for (int i = 0; i < 3; ++i) {
    early.push_back(std::make_unique<Pending<Result<Attributes>>>(getattr(mount(), {}, handle(1))));
  }
  reactor_.settle();
  const sessionid4 old = server_.session();
  server_.forget(false);
  Pending<Result<Attributes>> late(getattr(mount(), {}, handle(1)));
  reactor_.settle();
  EXPECT_EQ(server_.executions_of(OP_CREATE_SESSION), 1U) << "three answers are still to come";
  server_.release();
  reactor_.settle();
  for (auto& one : early) {
    ASSERT_TRUE(one->done());
    EXPECT_TRUE(one->value());
  }
  ASSERT_TRUE(late.done());
  EXPECT_TRUE(late.value());
  bool renewed = false;
  for (const Arrival& arrival : server_.arrivals()) {
    const bool old_id = arrival.sequence && arrival.sequence->sa_sessionid == old;
    EXPECT_FALSE(renewed && old_id);
    renewed |= arrival.has(OP_CREATE_SESSION) && arrival.xid != server_.arrivals()[1].xid;
  }
  EXPECT_TRUE(renewed);
}

TEST_F(RecoveryTest, ACallThatIsNeverAnsweredHoldsUpNothing) {
  start();
  bool held = false;
  server_.fate = [&held](const Arrival& arrival) {
    return arrival.has(OP_GETATTR) && !std::exchange(held, true) ? Fate::hold : Fate::answer;
  };
  Pending<Result<Attributes>> stuck(getattr(mount(), {}, handle(1)));
  reactor_.settle();
  server_.forget(false);
  const TimePoint begun = reactor_.now();
  EXPECT_TRUE(run(getattr(mount(), {}, handle(1))));
  EXPECT_LE(reactor_.now() - begun, minutes(1));
  EXPECT_TRUE(stuck.done()) << "sent again on the new session";
}

// P14: the server takes slots back and gives them out afresh.
TEST_F(RecoveryTest, ASlotThatWasTakenBackStartsOver) {
  start();
  auto all_slots = [this] {
    std::vector<std::unique_ptr<Pending<Result<Attributes>>>> many;
    for (std::uint32_t i = 0; i < 2 * kSlots; ++i) {
      many.push_back(
          std::make_unique<Pending<Result<Attributes>>>(getattr(mount(), {}, handle(1))));
    }
    reactor_.settle();
    for (auto& one : many) EXPECT_TRUE(one->done() && one->value());
  };
  all_slots();
  server_.target_highest_slotid = 0;
  ASSERT_TRUE(run(getattr(mount(), {}, handle(1))));
  server_.retire_slots_above(0);
  server_.target_highest_slotid = kSlots - 1;
  ASSERT_TRUE(run(getattr(mount(), {}, handle(1))));
  all_slots();
  EXPECT_EQ(counter("session_losses"), 0U);
  EXPECT_GT(counter("session_slots_misordered"), 0U);
}

TEST_F(RecoveryTest, TheTableGrowsBeyondWhatTheSessionBeganWith) {
  server_.adjust_session = [](const CREATE_SESSION4args&, CREATE_SESSION4resok& result) {
    result.csr_fore_chan_attrs.ca_maxrequests = 2;
  };
  start();
  EXPECT_EQ(counter("session_slots_usable"), 2U);
  server_.target_highest_slotid = 5;
  ASSERT_TRUE(run(getattr(mount(), {}, handle(1))));
  EXPECT_EQ(counter("session_slots_usable"), 6U);
  server_.target_highest_slotid = 1;
  ASSERT_TRUE(run(getattr(mount(), {}, handle(1))));
}

// P15: limits are those of the session of the moment.
TEST_F(RecoveryTest, LimitsAreReadAnewWithEverySession) {
  start();
  const std::uint32_t before = mount().wsize();
  server_.adjust_session = [](const CREATE_SESSION4args&, CREATE_SESSION4resok& result) {
    result.csr_fore_chan_attrs.ca_maxrequestsize = 65536;
  };
  server_.forget(false);
  ASSERT_TRUE(run(getattr(mount(), {}, handle(1))));
  EXPECT_LT(mount().wsize(), 65536U);
  EXPECT_LT(mount().wsize(), before);
}

TEST_F(RecoveryTest, IdentitiesOfMountsDiffer) {
  std::vector<std::string> owners;
  server_.on<EXCHANGE_ID4args, EXCHANGE_ID4res>(
      [&owners](const EXCHANGE_ID4args& args, EXCHANGE_ID4res& result) {
        const auto& owner = args.eia_clientowner.co_ownerid;
        owners.emplace_back(reinterpret_cast<const char*>(owner.data()), owner.size());
        result.eir_status = NFS4ERR_CLID_INUSE;
      });
  stopped_ = true;
  for (int mounts = 0; mounts < 4; ++mounts) {
    configure({});
    EXPECT_FALSE(try_start());
  }
  std::ranges::sort(owners);
  EXPECT_EQ(owners.size(), 4U);
  EXPECT_EQ(std::ranges::adjacent_find(owners), owners.end());
}

}  // namespace
}  // namespace nfsrdma::client::test
