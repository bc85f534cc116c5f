// Byte-range locks and the state operations: RFC 8881 sections 9.1 to 9.6, 18.10 to 18.12, 18.38,
// 18.48.
#include "tests/responder/nfs/state/lock_ranges.h"
#include "tests/responder/nfs_test_support.h"

namespace nfsrdma::responder::test {

using namespace nfs4;

namespace {

constexpr std::uint64_t kEnd = UINT64_MAX;

// Ranges are told apart by their holder's address only.
LockState* holder(std::uintptr_t number) { return reinterpret_cast<LockState*>(number * 16); }

std::vector<ByteRange> ranges_of(const LockRanges& locks) {
  std::vector<ByteRange> ranges;
  for (const LockedRange& held : locks.ranges()) ranges.push_back(held.range);
  return ranges;
}

using Ranges = std::vector<ByteRange>;

}  // namespace

TEST(LockRangesTest, NeighboursOfOneHolderMerge) {
  LockRanges locks;
  locks.lock({0, 9}, true, holder(1));
  locks.lock({20, 29}, true, holder(1));
  locks.lock({10, 19}, true, holder(1));
  EXPECT_EQ(ranges_of(locks), (Ranges{{0, 29}}));
  locks.lock({30, kEnd}, true, holder(1));
  EXPECT_EQ(ranges_of(locks), (Ranges{{0, kEnd}}));
}

TEST(LockRangesTest, OtherKindsAndHoldersDoNotMerge) {
  LockRanges locks;
  locks.lock({0, 9}, false, holder(1));
  locks.lock({10, 19}, true, holder(1));
  locks.lock({0, 9}, false, holder(2));
  EXPECT_EQ(locks.ranges().size(), 3U);
}

TEST(LockRangesTest, UnlockingTheMiddleSplits) {
  LockRanges locks;
  locks.lock({0, 99}, true, holder(1));
  locks.unlock({40, 59}, holder(1));
  EXPECT_EQ(ranges_of(locks), (Ranges{{0, 39}, {60, 99}}));
  locks.unlock({0, 9}, holder(1));
  locks.unlock({90, kEnd}, holder(1));
  EXPECT_EQ(ranges_of(locks), (Ranges{{10, 39}, {60, 89}}));
  locks.unlock({0, kEnd}, holder(2));
  EXPECT_EQ(locks.ranges().size(), 2U);
}

TEST(LockRangesTest, LockingConvertsWhatWasHeld) {
  LockRanges locks;
  locks.lock({0, 99}, false, holder(1));
  locks.lock({40, 59}, true, holder(1));
  EXPECT_EQ(ranges_of(locks), (Ranges{{0, 39}, {40, 59}, {60, 99}}));
  EXPECT_FALSE(locks.conflict({0, 39}, false, holder(2)));
  EXPECT_TRUE(locks.conflict({59, 59}, false, holder(2)));
  EXPECT_TRUE(locks.conflict({0, 0}, true, holder(2)));
  EXPECT_FALSE(locks.conflict({0, 99}, true, holder(1)));
  EXPECT_FALSE(locks.conflict({100, kEnd}, true, nullptr));
}

class NfsLockTest : public NfsTest {
 protected:
  void SetUp() override {
    write_file("file", "0123456789");
    client = connect();
    opened = open(client, open_args("file", OPEN4_SHARE_ACCESS_BOTH));
  }
  LOCK4res lock(TestClient& who, const Opened& through, std::string_view owner, offset4 offset,
                length4 length, nfs_lock_type4 type = WRITE_LT, bool reclaim = false) {
    LOCK4args args;
    args.locktype = type;
    args.reclaim = reclaim;
    args.offset = offset;
    args.length = length;
    args.locker.new_lock_owner = true;
    args.locker.open_owner.open_stateid = through.stateid;
    args.locker.open_owner.lock_owner.owner = bytes_of(owner);
    return on<LOCK4res>(who, through.handle, args);
  }
  LOCK4res lock_more(const stateid4& stateid, offset4 offset, length4 length) {
    LOCK4args args;
    args.locktype = WRITE_LT;
    args.offset = offset;
    args.length = length;
    args.locker.lock_owner.lock_stateid = stateid;
    return on<LOCK4res>(client, opened.handle, args);
  }
  LOCKT4res test(std::string_view owner, offset4 offset, length4 length,
                 nfs_lock_type4 type = WRITE_LT) {
    LOCKT4args args{type, offset, length, {0, bytes_of(owner)}};
    return on<LOCKT4res>(client, opened.handle, args);
  }
  LOCKU4res unlock(const stateid4& stateid, offset4 offset, length4 length) {
    return on<LOCKU4res>(client, opened.handle, LOCKU4args{WRITE_LT, 0, stateid, offset, length});
  }

  TestClient client;
  Opened opened;
};

TEST_F(NfsLockTest, LocksConflictBetweenOwners) {
  const auto first = lock(client, opened, "a", 0, 10);
  ASSERT_EQ(first.status, NFS4_OK);
  const auto denied = lock(client, opened, "b", 5, kToEndOfFile);
  EXPECT_EQ(denied.status, NFS4ERR_DENIED);
  EXPECT_EQ(denied.denied.offset, 0U);
  EXPECT_EQ(denied.denied.length, 10U);
  EXPECT_EQ(denied.denied.locktype, WRITE_LT);
  EXPECT_EQ(text_of(denied.denied.owner.owner), "a");
  EXPECT_EQ(denied.denied.owner.clientid, client.clientid);
  EXPECT_EQ(lock(client, opened, "b", 10, 5).status, NFS4_OK);
  EXPECT_EQ(test("a", 0, 10).status, NFS4_OK);
  EXPECT_EQ(test("c", 0, 1).status, NFS4ERR_DENIED);
  EXPECT_EQ(test("c", 15, kToEndOfFile).status, NFS4_OK);
}

TEST_F(NfsLockTest, ReadersShare) {
  EXPECT_EQ(lock(client, opened, "a", 0, 10, READ_LT).status, NFS4_OK);
  EXPECT_EQ(lock(client, opened, "b", 0, 10, READW_LT).status, NFS4_OK);
  EXPECT_EQ(lock(client, opened, "c", 0, 10, WRITEW_LT).status, NFS4ERR_DENIED);
}

TEST_F(NfsLockTest, LocksGrowAndShrinkUnderOneStateid) {
  const auto first = lock(client, opened, "a", 0, 10);
  const auto second = lock_more(first.resok4.lock_stateid, 10, 10);
  ASSERT_EQ(second.status, NFS4_OK);
  EXPECT_EQ(second.resok4.lock_stateid.other, first.resok4.lock_stateid.other);
  EXPECT_EQ(second.resok4.lock_stateid.seqid, first.resok4.lock_stateid.seqid + 1);
  const auto unlocked = unlock(second.resok4.lock_stateid, 5, 10);
  ASSERT_EQ(unlocked.status, NFS4_OK);
  EXPECT_EQ(test("b", 5, 10).status, NFS4_OK);
  EXPECT_EQ(test("b", 4, 1).status, NFS4ERR_DENIED);
  EXPECT_EQ(test("b", 15, 1).status, NFS4ERR_DENIED);
  EXPECT_EQ(unlock(second.resok4.lock_stateid, 0, 1).status, NFS4ERR_OLD_STATEID);
  EXPECT_EQ(unlock(unlocked.lock_stateid, 0, kToEndOfFile).status, NFS4_OK);
  EXPECT_EQ(test("b", 0, kToEndOfFile).status, NFS4_OK);
}

TEST_F(NfsLockTest, RefusesBadRangesAndModes) {
  EXPECT_EQ(lock(client, opened, "a", 0, 0).status, NFS4ERR_INVAL);
  EXPECT_EQ(lock(client, opened, "a", kEnd, 2).status, NFS4ERR_INVAL);
  EXPECT_EQ(lock(client, opened, "a", kEnd, 1).status, NFS4_OK);
  const Opened reader = open(client, open_args("file", OPEN4_SHARE_ACCESS_READ, 0, "reader"));
  EXPECT_EQ(lock(client, reader, "b", 0, 1, WRITE_LT).status, NFS4ERR_OPENMODE);
  EXPECT_EQ(lock(client, reader, "b", 0, 1, READ_LT).status, NFS4_OK);
  EXPECT_EQ(lock(client, opened, "b", 0, 1, WRITE_LT, true).status, NFS4ERR_NO_GRACE);
}

TEST_F(NfsLockTest, ALockStateidReadsAndWrites) {
  const auto locked = lock(client, opened, "a", 0, 10);
  EXPECT_EQ(status_on(client, opened.handle, READ4args{locked.resok4.lock_stateid, 0, 1}), NFS4_OK);
}

TEST_F(NfsLockTest, ClosingReleasesLocks) {
  const auto locked = lock(client, opened, "a", 0, 10);
  ASSERT_EQ(status_on(client, opened.handle, CLOSE4args{0, opened.stateid}), NFS4_OK);
  EXPECT_EQ(test("b", 0, 10).status, NFS4_OK);
  EXPECT_EQ(unlock(locked.resok4.lock_stateid, 0, 10).status, NFS4ERR_BAD_STATEID);
}

TEST_F(NfsLockTest, ClientsConflictAndExpiredOnesDoNot) {
  TestClient other = connect("client-2");
  const Opened theirs = open(other, open_args("file", OPEN4_SHARE_ACCESS_BOTH));
  ASSERT_EQ(lock(client, opened, "same name", 0, 10).status, NFS4_OK);
  EXPECT_EQ(lock(other, theirs, "same name", 0, 10).status, NFS4ERR_DENIED);
  for (int i = 0; i < 5; ++i) {
    reactor.advance(std::chrono::seconds(60));
    EXPECT_EQ(run(other).status(), NFS4_OK);
  }
  EXPECT_EQ(lock(other, theirs, "same name", 0, 10).status, NFS4_OK);
}

TEST_F(NfsLockTest, StateidsAreTestedAndFreed) {
  const auto locked = lock(client, opened, "a", 0, 10);
  const stateid4 stateid = locked.resok4.lock_stateid;
  stateid4 foreign = stateid;
  foreign.other[0] ^= std::byte{1};
  TEST_STATEID4args query;
  query.ts_stateids = {opened.stateid, stateid, foreign, kAnonymousStateid};
  const auto tested = run(client, query).next<TEST_STATEID4res>();
  EXPECT_EQ(tested.tsr_resok4.tsr_status_codes,
            (std::vector<nfsstat4>{NFS4_OK, NFS4_OK, NFS4ERR_STALE_STATEID, NFS4ERR_BAD_STATEID}));
  EXPECT_EQ(run(client, FREE_STATEID4args{stateid}).status(), NFS4ERR_LOCKS_HELD);
  EXPECT_EQ(run(client, FREE_STATEID4args{opened.stateid}).status(), NFS4ERR_LOCKS_HELD);
  const auto unlocked = unlock(stateid, 0, 10);
  EXPECT_EQ(run(client, FREE_STATEID4args{unlocked.lock_stateid}).status(), NFS4_OK);
  EXPECT_EQ(run(client, FREE_STATEID4args{unlocked.lock_stateid}).status(), NFS4ERR_BAD_STATEID);
}

// RFC 8881 section 18.10.3: NFS4ERR_DEADLOCK.
TEST_F(NfsLockTest, ACircleOfWaitersIsADeadlock) {
  TestClient other = connect("client-2");
  const Opened theirs = open(other, open_args("file", OPEN4_SHARE_ACCESS_BOTH));
  ASSERT_EQ(lock(client, opened, "a", 0, 1).status, NFS4_OK);
  ASSERT_EQ(lock(client, opened, "b", 1, 1).status, NFS4_OK);
  ASSERT_EQ(lock(other, theirs, "c", 2, 1).status, NFS4_OK);
  EXPECT_EQ(lock(client, opened, "a", 1, 1, WRITEW_LT).status, NFS4ERR_DENIED);
  EXPECT_EQ(lock(client, opened, "b", 2, 1, READW_LT).status, NFS4ERR_DENIED);
  EXPECT_EQ(lock(other, theirs, "c", 0, 1, WRITE_LT).status, NFS4ERR_DENIED) << "does not wait";
  EXPECT_EQ(lock(other, theirs, "c", 0, 1, WRITEW_LT).status, NFS4ERR_DEADLOCK);
  EXPECT_EQ(lock(client, opened, "b", 2, 1, READW_LT).status, NFS4ERR_DENIED) << "c gave up";
  ASSERT_EQ(status_on(other, theirs.handle, CLOSE4args{0, theirs.stateid}), NFS4_OK);
  EXPECT_EQ(lock(client, opened, "b", 2, 1, READW_LT).status, NFS4_OK);
}

TEST_F(NfsLockTest, WaitersInARowAreNoDeadlock) {
  const auto first = lock(client, opened, "a", 0, 1);
  ASSERT_EQ(lock(client, opened, "b", 1, 1).status, NFS4_OK);
  EXPECT_EQ(lock(client, opened, "c", 1, 1, WRITEW_LT).status, NFS4ERR_DENIED);
  EXPECT_EQ(lock(client, opened, "b", 0, 1, WRITEW_LT).status, NFS4ERR_DENIED);
  EXPECT_EQ(lock(client, opened, "c", 0, 2, WRITEW_LT).status, NFS4ERR_DENIED);
  // The holder's next range is free, or its own.
  EXPECT_EQ(lock_more(first.resok4.lock_stateid, 0, 1).status, NFS4_OK);
}

// A waiter that does not ask any more has given up, though no request says so.
TEST_F(NfsLockTest, AWaiterThatStopsAskingIsForgotten) {
  ASSERT_EQ(lock(client, opened, "a", 0, 1).status, NFS4_OK);
  ASSERT_EQ(lock(client, opened, "b", 1, 1).status, NFS4_OK);
  EXPECT_EQ(lock(client, opened, "a", 1, 1, WRITEW_LT).status, NFS4ERR_DENIED);
  reactor.advance(std::chrono::seconds(4));
  EXPECT_EQ(lock(client, opened, "a", 1, 1, WRITEW_LT).status, NFS4ERR_DENIED);
  reactor.advance(std::chrono::seconds(8));  // the next is due
  EXPECT_EQ(lock(client, opened, "b", 0, 1, WRITEW_LT).status, NFS4ERR_DENIED) << "forgotten";
  EXPECT_EQ(lock(client, opened, "a", 1, 1, WRITEW_LT).status, NFS4ERR_DEADLOCK);
}

}  // namespace nfsrdma::responder::test
