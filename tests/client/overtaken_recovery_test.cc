// What a recovery meets that others have changed, put off or refused meanwhile, against a fake
// server in virtual time.
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "client/files/files.h"
#include "client/files/lock.h"
#include "client/requests/getattr.h"
#include "client/requests/read.h"
#include "tests/client/forgetful_server.h"

namespace nfsrdma::client::test {
namespace {

using namespace nfs4;
using std::chrono::seconds;

// RFC 8881 section 8.2.4: its stateid was replaced while the answer was on its way. It is repeated
// with the new one, which nobody has refused.
TEST_F(RecoveryTest, ARefusalOfAReplacedStateidIsNoneOfTheNewOne) {
  start();
  OpenRef file = must_open(1);
  forget_opens(false);
  bool held = false;
  server_.fate = [&held](const Arrival& arrival) {
    return arrival.has(OP_READ) && !std::exchange(held, true) ? Fate::hold : Fate::answer;
  };
  Pending<Result<ReadData>> late(read(mount(), {}, file->handle(), file.state(), 0, data_));
  EXPECT_TRUE(read_from(file));
  ASSERT_FALSE(late.done());
  server_.release();
  reactor_.settle();
  ASSERT_TRUE(late.done());
  EXPECT_TRUE(late.value());
  EXPECT_EQ(claims_, std::vector{CLAIM_FH}) << "opened anew once";
}

// The server puts the OPEN off for ever: the file is lost after a lease, not its user's patience.
TEST_F(RecoveryTest, AnOpenAnewThatIsPutOffForALeaseCostsTheFile) {
  start();
  OpenRef file = must_open(1);
  forget_opens(false);
  again_ = NFS4ERR_DELAY;
  Pending<Result<ReadData>> reading(read(mount(), {}, file->handle(), file.state(), 0, data_));
  reactor_.advance(2 * seconds(90));
  ASSERT_TRUE(reading.done());
  EXPECT_FALSE(reading.value());
  EXPECT_TRUE(file->lost());
}

// The grace period may be longer than the lease. A DELAY behind it, while the server recalls a
// delegation for the OPEN, has a lease of its own.
TEST_F(RecoveryTest, AnOpenAnewWaitsForTheEndOfTheGracePeriod) {
  start();
  OpenRef file = must_open(1);
  forget_opens(true);
  previous_ = NFS4ERR_RECLAIM_BAD;
  again_ = NFS4ERR_GRACE;
  Pending<Result<ReadData>> reading(read(mount(), {}, file->handle(), file.state(), 0, data_));
  reactor_.advance(3 * seconds(90) / 2);
  EXPECT_FALSE(reading.done());
  EXPECT_FALSE(file->lost());
  again_ = NFS4ERR_DELAY;
  reactor_.advance(seconds(45));
  again_ = NFS4_OK;
  reactor_.advance(seconds(30));
  ASSERT_TRUE(reading.done());
  EXPECT_TRUE(reading.value());
  EXPECT_FALSE(file->lost());
}

TEST_F(RecoveryTest, AGracePeriodWithoutEndCostsTheFile) {
  start();
  OpenRef file = must_open(1);
  forget_opens(false);
  again_ = NFS4ERR_GRACE;
  Pending<Result<ReadData>> reading(read(mount(), {}, file->handle(), file.state(), 0, data_));
  reactor_.advance(std::chrono::minutes(6));
  ASSERT_TRUE(reading.done());
  EXPECT_FALSE(reading.value());
  EXPECT_TRUE(file->lost());
}

// RFC 8881 section 18.34: whatever is wrong with the connection, another BIND_CONN_TO_SESSION does
// not mend it. The next connection is tried.
TEST_F(RecoveryTest, AConnectionThatCannotBeBoundIsReplaced) {
  start();
  server_.fate = [this](const Arrival& arrival) {
    if (arrival.sequence && arrival.connection == 1) {
      server_.fail(OP_SEQUENCE, NFS4ERR_CONN_NOT_BOUND_TO_SESSION);
    }
    return Fate::answer;
  };
  EXPECT_TRUE(run(getattr(mount(), {}, handle(1))));
  EXPECT_EQ(server_.executions_of(OP_BIND_CONN_TO_SESSION), 2U) << "one for each connection";
  EXPECT_EQ(counter("reconnects"), 1U);
  EXPECT_EQ(counter("session_losses"), 0U);
}

// A server that takes the client id and forgets it again: without a pause between, client and
// server would do nothing else.
TEST_F(RecoveryTest, ARecoveryThatGoesInCirclesEndsTheConnection) {
  start();
  server_.forget(true);
  server_.fail(OP_CREATE_SESSION, NFS4ERR_STALE_CLIENTID, 20);
  EXPECT_TRUE(run(getattr(mount(), {}, handle(1))));
  const auto attempts = server_.arrivals_of(OP_CREATE_SESSION);
  EXPECT_EQ(attempts.size(), 1 + 20 + 1U);
  EXPECT_LT(std::ranges::count(attempts, 1, &Arrival::connection), 10);
  EXPECT_GE(counter("reconnects"), 1U);
}

// In both orders: whichever of the files the recovery has passed by already.
TEST_F(RecoveryTest, WhatIsRefusedWhileAnotherFileIsOpenedAnewIsOpenedAnewToo) {
  start();
  const OpenRef files[] = {must_open(1), must_open(2)};
  for (const std::size_t first : {0U, 1U}) {
    forget_opens(false);
    bool held = false;
    server_.fate = [&held](const Arrival& arrival) {
      return arrival.has(OP_OPEN) && !std::exchange(held, true) ? Fate::hold : Fate::answer;
    };
    const auto read_one = [this](const OpenRef& file) {
      return Pending<Result<ReadData>>(read(mount(), {}, file->handle(), file.state(), 0, data_));
    };
    auto one = read_one(files[first]);
    reactor_.settle();
    auto other = read_one(files[1 - first]);
    reactor_.settle();
    server_.fate = nullptr;
    server_.release();
    reactor_.settle();
    ASSERT_TRUE(one.done() && other.done()) << "beginning with " << first;
    EXPECT_TRUE(one.value() && other.value());
    EXPECT_EQ(count(CLAIM_FH), 2U);
  }
}

// Reading ahead, for one, may do that. It must not wait for a recovery of what nobody uses.
TEST_F(RecoveryTest, AReadThatOutlivesItsOpenEndsWithTheRecovery) {
  start();
  OpenRef closed = must_open(1);
  forgotten_ = last_state_;
  const OpenRef other = must_open(2);
  server_.fate = [](const Arrival& arrival) {
    return arrival.has(OP_READ) ? Fate::hold : Fate::answer;
  };
  Pending<Result<ReadData>> reading(read(mount(), {}, closed->handle(), closed.state(), 0, data_));
  reactor_.settle();
  server_.fate = nullptr;
  server_.fail(OP_CLOSE, NFS4ERR_DELAY, 5);
  Pending<Result<void>> closing(mount().opens().close(std::move(closed)));
  server_.fail(OP_TEST_STATEID, NFS4ERR_DELAY, 1);
  server_.status_flags = SEQ4_STATUS_ADMIN_STATE_REVOKED;
  ASSERT_TRUE(run(getattr(mount(), {}, handle(1))));
  server_.status_flags = 0;
  server_.release();
  reactor_.advance(seconds(1));
  EXPECT_EQ(batches_.size(), 1U) << "the recovery is over";
  ASSERT_TRUE(reading.done());
  EXPECT_FALSE(reading.value());
  reactor_.advance(seconds(30));
  EXPECT_TRUE(closing.done());
}

// RFC 8881 section 18.37.3: the session that is replaced may stay for a while. The new one is what
// matters.
TEST_F(RecoveryTest, ASessionThatTheServerDoesNotDestroyIsReplacedAllTheSame) {
  start();
  server_.fail(OP_DESTROY_SESSION, NFS4ERR_BACK_CHAN_BUSY, 1);
  server_.status_flags = SEQ4_STATUS_BACKCHANNEL_FAULT;
  ASSERT_TRUE(run(getattr(mount(), {}, handle(1))));
  reactor_.settle();
  EXPECT_EQ(server_.executions_of(OP_CREATE_SESSION), 2U);
  EXPECT_EQ(counter("reconnects"), 0U);
}

// RFC 8881 section 8.4.2.1: in its grace period the server may be busy, which is no refusal.
TEST_F(RecoveryTest, AReclaimThatIsPutOffIsRepeated) {
  start();
  OpenRef file = must_open(1);
  forget_opens(true);
  server_.fail(OP_OPEN, NFS4ERR_DELAY, 3);
  EXPECT_TRUE(read_from(file));
  EXPECT_FALSE(file->lost());
  EXPECT_EQ(claims_, std::vector{CLAIM_PREVIOUS});
}

// It fails although the file was reclaimed meanwhile: that has settled what the file is.
TEST_F(RecoveryTest, AnOpenAnewThatARestartOvertakesMayFail) {
  start();
  OpenRef file = must_open(1);
  forget_opens(false);
  again_ = NFS4ERR_IO;
  server_.fate = [this, struck = false](const Arrival& arrival) mutable {
    if (struck || !arrival.has(OP_OPEN)) return Fate::answer;
    struck = true;
    server_.forget(true);
    return Fate::disconnect_before;
  };
  EXPECT_TRUE(read_from(file));
  reactor_.settle();
  EXPECT_EQ(count(CLAIM_FH), 1U);
  EXPECT_FALSE(file->lost());
}

// RFC 8881 section 8.2.2: the server has done an OPEN of the file whose answer is still to come. To
// free the stateid would end that, too.
TEST_F(RecoveryTest, AStateidThatIsOldIsNotRevoked) {
  start();
  OpenRef file = must_open(1);
  forget_opens(false);
  refusal_ = NFS4ERR_OLD_STATEID;
  server_.status_flags = SEQ4_STATUS_ADMIN_STATE_REVOKED;
  ASSERT_TRUE(run(getattr(mount(), {}, handle(1))));
  server_.status_flags = 0;
  reactor_.settle();
  EXPECT_EQ(batches_.size(), 1U);
  EXPECT_EQ(server_.executions_of(OP_FREE_STATEID), 0U);
  EXPECT_TRUE(claims_.empty());
}

TEST_F(RecoveryTest, AnAnswerAboutAReplacedDelegationDoesNotCount) {
  start();
  DelegationTable& table = static_cast<Files&>(mount()).delegation_table;
  GrantedDelegation granted;
  granted.stateid.other[0] = std::byte{1};
  const DelegationRef delegation = table.put(handle(1), {}, granted, {}, false);
  forgotten_ = 1;
  refusal_ = NFS4ERR_DELEG_REVOKED;
  server_.fate = [](const Arrival& arrival) {
    return arrival.has(OP_TEST_STATEID) ? Fate::hold : Fate::answer;
  };
  server_.status_flags = SEQ4_STATUS_RECALLABLE_STATE_REVOKED;
  ASSERT_TRUE(run(getattr(mount(), {}, handle(2))));
  server_.status_flags = 0;
  reactor_.settle();
  ASSERT_EQ(batches_.size(), 1U);
  granted.stateid.other[0] = std::byte{2};
  table.put(handle(1), {}, granted, {}, false);
  server_.release();
  reactor_.settle();
  EXPECT_FALSE(delegation->lost());
  EXPECT_EQ(server_.executions_of(OP_FREE_STATEID), 0U);
}

TEST_F(RecoveryTest, ARevokedOpenThatIsReclaimedMeanwhileIsHeld) {
  start();
  OpenRef file = must_open(1);
  forget_opens(false);
  refusal_ = NFS4ERR_ADMIN_REVOKED;
  server_.fate = [this, struck = false](const Arrival& arrival) mutable {
    if (struck || !arrival.has(OP_FREE_STATEID)) return Fate::answer;
    struck = true;
    server_.forget(true);
    return Fate::disconnect_before;
  };
  EXPECT_TRUE(read_from(file));
  reactor_.settle();
  EXPECT_EQ(count(CLAIM_PREVIOUS), 1U);
  EXPECT_FALSE(file->lost());
  EXPECT_EQ(counter("opens_lost"), 0U);
}

// The recovery passes by what nobody has open.
TEST_F(RecoveryTest, AFileThatIsClosedBeforeItIsReclaimedIsSoundWhenOpenedAgain) {
  start();
  OpenRef file = must_open(1);
  const OpenFileRef known = file.file();
  forget_opens(true);
  server_.fate = [renewed = false](const Arrival& arrival) mutable {
    renewed = renewed || arrival.has(OP_EXCHANGE_ID);
    return renewed && arrival.has(OP_CREATE_SESSION) ? Fate::hold : Fate::answer;
  };
  Pending asking(getattr(mount(), {}, handle(2)));
  reactor_.settle();
  ASSERT_EQ(known->claim(), OpenFile::Claim::previous);
  Pending closing(mount().opens().close(std::move(file)));
  Pending opening(open(mount(), {}, handle(1), kRead));
  reactor_.settle();
  server_.fate = nullptr;
  server_.release();
  reactor_.advance(std::chrono::seconds(10));
  ASSERT_TRUE(opening.done());
  ASSERT_TRUE(opening.value());
  EXPECT_EQ(opening.value()->open.file(), known);
  EXPECT_FALSE(known->recovering());
  EXPECT_EQ(count(CLAIM_PREVIOUS), 0U);
  EXPECT_TRUE(asking.done());
  EXPECT_TRUE(closing.done());
}

/// sr_status_flags that change with each request.
class ReportedRevocation : public RecoveryTest {
 protected:
  void report(std::uint32_t flags) {
    server_.status_flags = flags;
    EXPECT_TRUE(run(getattr(mount(), {}, handle(1))));
    reactor_.settle();
  }
};

// Until it has been looked for, any delegation may be the one that is revoked.
TEST_F(ReportedRevocation, ASecondRevocationLeavesTheLeaseInDoubt) {
  start();
  report(SEQ4_STATUS_RECALLABLE_STATE_REVOKED);
  report(0);
  EXPECT_TRUE(mount().session().lease_holds()) << "it was looked for at once";
  report(SEQ4_STATUS_RECALLABLE_STATE_REVOKED);
  EXPECT_FALSE(mount().session().lease_holds()) << "too early to look again";
  reactor_.advance(std::chrono::seconds(31));
  report(SEQ4_STATUS_RECALLABLE_STATE_REVOKED);
  report(0);
  EXPECT_TRUE(mount().session().lease_holds());
  EXPECT_GE(counter("recovery_revoked_rounds"), 2U);
}

TEST_F(ReportedRevocation, ADoubtEndsWithTheSessionThatHadIt) {
  start();
  report(SEQ4_STATUS_RECALLABLE_STATE_REVOKED);
  report(0);
  report(SEQ4_STATUS_RECALLABLE_STATE_REVOKED);
  ASSERT_FALSE(mount().session().lease_holds());
  server_.forget(true);
  report(0);
  report(0);
  EXPECT_TRUE(mount().session().lease_holds());
}

TEST_F(RecoveryTest, ASessionThatIsInUseIsDestroyedOverTheNextConnection) {
  start();
  server_.fail(OP_DESTROY_SESSION, NFS4ERR_DELAY);
  Pending stopping(mount().stop());
  reactor_.settle();
  ASSERT_EQ(server_.arrivals_of(OP_DESTROY_SESSION).size(), 1U);
  server_.disconnect();
  reactor_.advance(std::chrono::seconds(1));
  ASSERT_TRUE(stopping.done());
  EXPECT_TRUE(stopping.value());
  EXPECT_EQ(server_.arrivals_of(OP_DESTROY_SESSION).size(), 2U);
  EXPECT_EQ(server_.arrivals_of(OP_DESTROY_CLIENTID).size(), 1U);
}

// The server has less than it had: what it would refuse the delegation does not cover alone.
TEST_F(RecoveryTest, NothingIsOpenedHereBesideADowngrade) {
  start();
  OpenRef reader = must_open(1, kRead);
  OpenRef writer = must_open(1, kWrite);
  OpenRef both = must_open(1, kBoth);
  DelegationTable& table = static_cast<Files&>(mount()).delegation_table;
  GrantedDelegation granted;
  granted.stateid.other[0] = std::byte{1};
  table.put(handle(1), {}, granted, {}, false);
  table.authorize(handle(1), {}, kRead);
  server_.fate = [](const Arrival& arrival) {
    return arrival.has(OP_OPEN_DOWNGRADE) ? Fate::hold : Fate::answer;
  };
  EXPECT_TRUE(run(mount().opens().close(std::move(reader))));
  EXPECT_TRUE(open_locally(mount(), {}, handle(1), kRead)) << "beside the open for both";
  Pending closing(mount().opens().close(std::move(both)));
  reactor_.settle();
  ASSERT_EQ(server_.arrivals_of(OP_OPEN_DOWNGRADE).size(), 1U);
  EXPECT_FALSE(open_locally(mount(), {}, handle(1), kRead));
  server_.fate = nullptr;
  server_.release();
  reactor_.settle();
  EXPECT_TRUE(closing.done());
}

// The open is reclaimed without it.
TEST_F(RecoveryTest, ADelegationOfBeforeARestartIsNotTaken) {
  server_.on<OPEN4args, OPEN4res>([this](const OPEN4args& args, OPEN4res& result) {
    claims_.push_back(args.claim.claim);
    result.resok4.stateid.seqid = 1;
    result.resok4.stateid.other[0] = static_cast<std::byte>(++last_state_);
    if (args.claim.claim != CLAIM_FH) return;
    result.resok4.delegation.delegation_type = OPEN_DELEGATE_READ;
    result.resok4.delegation.read.stateid.other[0] = std::byte{77};
  });
  start();
  server_.fail(OP_GETATTR, NFS4ERR_DELAY, 2);
  Pending opening(open(mount(), {}, handle(1), kRead));
  reactor_.settle();
  ASSERT_FALSE(opening.done());
  server_.forget(true);
  server_.disconnect();
  reactor_.advance(std::chrono::seconds(20));
  ASSERT_TRUE(opening.done());
  ASSERT_TRUE(opening.value());
  EXPECT_EQ(count(CLAIM_PREVIOUS), 1U);
  EXPECT_FALSE(mount().delegations().held(handle(1)));
}

/// Notes the LOCKs of a file that is open for reading and writing.
class LocksReclaimed : public RecoveryTest {
 protected:
  struct Noted {
    bool reclaim;
    nfs_lock_type4 type;
    std::uint64_t offset;
    friend bool operator==(const Noted&, const Noted&) = default;
  };
  LocksReclaimed() {
    server_.on<LOCK4args, LOCK4res>([this](const LOCK4args& args, LOCK4res& result) {
      locks_.push_back({args.reclaim, args.locktype, args.offset});
      result.resok4.lock_stateid.seqid = 1;
      result.resok4.lock_stateid.other[0] = static_cast<std::byte>(lock_state_++);
    });
  }
  Result<LockGrant> lock_range(const OpenRef& file, ByteRange range, bool exclusive) {
    return run(lock(mount(), file.file(),
                    {.owner = {LockKind::posix, 1}, .range = range, .exclusive = exclusive}));
  }

  int lock_state_ = 100;
  std::vector<Noted> locks_;
};

// RFC 8881 section 9.11: as reclaims, which no other client's lock has come before, and of the kind
// that they were: a read lock keeps no reader out.
TEST_F(LocksReclaimed, AsWhatTheyWere) {
  start();
  OpenRef file = must_open(1, kBoth);
  ASSERT_TRUE(lock_range(file, {0, 9}, true));
  ASSERT_TRUE(lock_range(file, {20, 29}, false));
  forget_opens(true);
  locks_.clear();
  EXPECT_TRUE(read_from(file));
  EXPECT_EQ(locks_, (std::vector<Noted>{{true, WRITE_LT, 0}, {true, READ_LT, 20}}));
}

TEST_F(LocksReclaimed, OnTheNextConnectionIfTheOneIsLost) {
  start();
  OpenRef file = must_open(1, kBoth);
  ASSERT_TRUE(lock_range(file, {0, 9}, true));
  forget_opens(true);
  server_.fate = [cut = false](const Arrival& arrival) mutable {
    const bool strikes = arrival.has(OP_LOCK) && !std::exchange(cut, true);
    return strikes ? Fate::disconnect_before : Fate::answer;
  };
  EXPECT_TRUE(read_from(file));
  EXPECT_EQ(counter("locks_lost"), 0U);
  EXPECT_EQ(locks_.back(), (Noted{true, WRITE_LT, 0}));
}

// The owner has locked again before the answer about the stateid of before came.
TEST_F(LocksReclaimed, NotForAnAnswerAboutAReplacedStateid) {
  start();
  last_state_ = 10;
  OpenRef file = must_open(1, kBoth);
  lock_state_ = 1;
  ASSERT_TRUE(lock_range(file, {0, 9}, true));
  forgotten_ = 1;
  refusal_ = NFS4ERR_ADMIN_REVOKED;
  server_.fate = [tests = 0](const Arrival& arrival) mutable {
    return arrival.has(OP_TEST_STATEID) && ++tests == 2 ? Fate::hold : Fate::answer;
  };
  server_.status_flags = SEQ4_STATUS_ADMIN_STATE_REVOKED;
  ASSERT_TRUE(run(getattr(mount(), {}, handle(1))));
  server_.status_flags = 0;
  reactor_.settle();
  ASSERT_EQ(batches_.size(), 2U) << "opens, and locks";
  lock_state_ = 100;
  ASSERT_TRUE(lock_range(file, {20, 29}, true));
  server_.release();
  reactor_.settle();
  EXPECT_EQ(counter("locks_lost"), 0U);
  EXPECT_EQ(server_.executions_of(OP_FREE_STATEID), 0U);
}

// Unlocked before the server knows of it again, it would be locked then for nobody.
TEST_F(LocksReclaimed, BeforeTheyAreGivenBack) {
  std::vector<std::uint64_t> unlocked;
  server_.on<LOCKU4args, LOCKU4res>([&unlocked](const LOCKU4args& args, LOCKU4res& result) {
    unlocked.push_back(args.offset);
    result.lock_stateid = args.lock_stateid;
  });
  start();
  OpenRef file = must_open(1, kBoth);
  ASSERT_TRUE(lock_range(file, {0, 9}, true));
  forget_opens(true);
  server_.fate = [](const Arrival& arrival) {
    return arrival.has(OP_LOCK) ? Fate::hold : Fate::answer;
  };
  Pending asking(getattr(mount(), {}, handle(2)));
  reactor_.settle();
  ASSERT_EQ(locks_.back(), (Noted{true, WRITE_LT, 0}));
  Pending leaving(unlock_all(mount(), file.file(), {LockKind::posix, 1}));
  reactor_.settle();
  EXPECT_FALSE(leaving.done());
  server_.fate = nullptr;
  server_.release();
  reactor_.advance(std::chrono::seconds(10));
  ASSERT_TRUE(leaving.done());
  EXPECT_TRUE(leaving.value());
  EXPECT_TRUE(asking.done());
  EXPECT_EQ(unlocked.size(), 1U);
}

TEST_F(LocksReclaimed, ForNobodyOfAFileThatIsClosedMeanwhile) {
  start();
  OpenRef file = must_open(1, kBoth);
  ASSERT_TRUE(lock_range(file, {0, 9}, true));
  forget_opens(true);
  server_.fate = [renewed = false](const Arrival& arrival) mutable {
    renewed = renewed || arrival.has(OP_EXCHANGE_ID);
    return renewed && arrival.has(OP_CREATE_SESSION) ? Fate::hold : Fate::answer;
  };
  Pending asking(getattr(mount(), {}, handle(2)));
  reactor_.settle();
  Pending leaving(unlock_all(mount(), file.file(), {LockKind::posix, 1}));
  reactor_.advance(std::chrono::seconds(1));
  EXPECT_FALSE(leaving.done());
  Pending closing(mount().opens().close(std::move(file)));
  server_.fate = nullptr;
  server_.release();
  reactor_.advance(std::chrono::seconds(10));
  EXPECT_TRUE(asking.done());
  EXPECT_TRUE(leaving.done());
  EXPECT_TRUE(closing.done());
}

// The server has restarted while files were opened anew: the first of them is to be opened once
// more.
TEST_F(LocksReclaimed, OrLostAndTheFileOpenedAnewAsOftenAsTheServerRestarts) {
  previous_ = NFS4ERR_NO_GRACE;
  start();
  OpenRef one = must_open(1, kBoth);
  OpenRef other = must_open(2, kBoth);
  ASSERT_TRUE(lock_range(one, {0, 9}, true));
  ASSERT_TRUE(lock_range(other, {0, 9}, true));
  forget_opens(true);
  server_.fate = [this](const Arrival& arrival) {
    return arrival.has(OP_OPEN) && count(CLAIM_FH) == 1 ? Fate::hold : Fate::answer;
  };
  Pending asking(getattr(mount(), {}, handle(3)));
  reactor_.settle();
  ASSERT_EQ(count(CLAIM_FH), 2U);
  server_.fate = nullptr;
  forget_opens(true);
  server_.disconnect();
  reactor_.advance(std::chrono::seconds(10));
  EXPECT_EQ(one->claim(), OpenFile::Claim::none);
  EXPECT_EQ(other->claim(), OpenFile::Claim::none);
  Pending leaving(unlock_all(mount(), one.file(), {LockKind::posix, 1}));
  reactor_.advance(std::chrono::seconds(10));
  EXPECT_TRUE(leaving.done());
  EXPECT_TRUE(asking.done());
}

// The server has restarted between the unlock and what makes it forget the owner.
TEST_F(LocksReclaimed, NotWhenTheyHaveBeenGivenBack) {
  server_.on<LOCKU4args, LOCKU4res>(
      [](const LOCKU4args& args, LOCKU4res& result) { result.lock_stateid = args.lock_stateid; });
  start();
  OpenRef file = must_open(1, kBoth);
  ASSERT_TRUE(lock_range(file, {0, 9}, true));
  locks_.clear();
  server_.fate = [this, struck = false](const Arrival& arrival) mutable {
    if (struck || !arrival.has(OP_FREE_STATEID)) return Fate::answer;
    struck = true;
    forget_opens(true);
    return Fate::disconnect_before;
  };
  EXPECT_TRUE(run(unlock_all(mount(), file.file(), {LockKind::posix, 1})));
  EXPECT_EQ(count(CLAIM_PREVIOUS), 1U);
  EXPECT_TRUE(locks_.empty()) << "it would be locked for nobody";
}

}  // namespace
}  // namespace nfsrdma::client::test
