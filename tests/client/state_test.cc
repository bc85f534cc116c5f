// Slots, opens, locks and delegations as this client knows them, without a server.
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <vector>

#include "client/session/slot_table.h"
#include "client/state/delegation_table.h"
#include "client/state/open_file.h"
#include "client/state/open_table.h"
#include "tests/support/virtual_reactor.h"

namespace nfsrdma::client {
namespace {

constexpr std::uint32_t kRead = nfs4::OPEN4_SHARE_ACCESS_READ;
constexpr std::uint32_t kWrite = nfs4::OPEN4_SHARE_ACCESS_WRITE;
constexpr std::uint32_t kBoth = nfs4::OPEN4_SHARE_ACCESS_BOTH;

nfs4::stateid4 stateid(std::uint32_t seqid, unsigned char other = 1) {
  nfs4::stateid4 made;
  made.seqid = seqid;
  made.other.fill(std::byte{other});
  return made;
}

class SlotTableTest : public ::testing::Test {
 protected:
  void open(std::uint32_t slots, std::uint32_t most) {
    table.reset(slots, most);
    table.open();
  }

  VirtualReactor reactor;
  SlotTable table{reactor};
};

TEST_F(SlotTableTest, HasAsManySlotsAsTheServerWantsUpToItsMost) {
  open(4, 8);
  table.set_target(100);
  EXPECT_EQ(table.usable(), 8U);
  table.set_target(8);
  EXPECT_EQ(table.usable(), 8U) << "slots are counted from 0";
  table.set_target(7);
  EXPECT_EQ(table.usable(), 8U);
  table.set_target(2);
  EXPECT_EQ(table.usable(), 3U);
  table.set_target(0);
  EXPECT_EQ(table.usable(), 1U);
}

TEST_F(SlotTableTest, ASlotInDoubtIsNotTaken) {
  open(2, 2);
  SlotHold hold = table.take_for_recovery();
  ASSERT_EQ(hold->id, 0U);
  hold->record_sent(reactor.now());
  hold.release();
  EXPECT_EQ(table.take_for_recovery()->id, 1U);
  EXPECT_EQ(table.take_in_doubt()->id, 0U);
}

TEST_F(SlotTableTest, ASlotOfTheSessionBeforeIsNoneOfThis) {
  open(2, 2);
  SlotHold old = table.take_for_recovery();
  open(2, 2);
  SlotHold hold = table.take_for_recovery();
  EXPECT_FALSE(old);
  old.release();
  EXPECT_EQ(table.in_use(), 1U);
  EXPECT_EQ(table.take_for_recovery()->id, 1U) << "the first one is still in use";
}

TEST_F(SlotTableTest, TellsTheHighestInUse) {
  open(4, 4);
  EXPECT_EQ(table.highest_used(), 0U);
  std::vector<SlotHold> holds;
  for (int i = 0; i < 3; ++i) holds.push_back(table.take_for_recovery());
  EXPECT_EQ(table.highest_used(), 2U);
  holds.pop_back();
  EXPECT_EQ(table.highest_used(), 1U);
}

TEST_F(SlotTableTest, ASlotThatWasTakenBackWhileItWasInUseMayBeForgotten) {
  open(2, 2);
  SlotHold first = table.take_for_recovery();
  SlotHold second = table.take_for_recovery();
  table.set_target(0);
  second->record_sent(reactor.now());
  second->record_acked();
  second.release();
  table.set_target(1);
  EXPECT_TRUE(table.take_for_recovery()->retired);
}

Credential user(std::uint32_t uid, std::uint32_t gid, std::vector<std::uint32_t> groups = {}) {
  Credential made;
  made.uid = uid;
  made.gid = gid;
  for (const std::uint32_t group : groups) made.groups[made.group_count++] = group;
  return made;
}

class DelegationAccess : public ::testing::Test {
 protected:
  VirtualReactor reactor;
  DelegationTable table;
  FileHandle handle;
};

// RFC 8881 section 10.4.1: a local open must not let in a user whom the server would not.
TEST_F(DelegationAccess, IsForWhoWasLetInAndForNobodyElse) {
  const DelegationRef delegation =
      table.put(handle, user(1, 1), {stateid(1), true, false}, {}, false);
  table.authorize(handle, user(1, 10, {100, 101}), kRead);
  EXPECT_TRUE(delegation->allows(user(1, 10, {100, 101}), kRead));
  EXPECT_FALSE(delegation->allows(user(1, 10, {100, 101}), kWrite));
  EXPECT_FALSE(delegation->allows(user(1, 10, {100, 101}), kBoth));
  EXPECT_FALSE(delegation->allows(user(2, 10, {100, 101}), kRead));
  EXPECT_FALSE(delegation->allows(user(1, 11, {100, 101}), kRead));
  EXPECT_FALSE(delegation->allows(user(1, 10, {100, 102}), kRead)) << "another group";
  EXPECT_FALSE(delegation->allows(user(1, 10, {100}), kRead));
  table.authorize(handle, user(1, 10, {100, 101}), kWrite);
  EXPECT_TRUE(delegation->allows(user(1, 10, {100, 101}), kBoth));
  table.forget_authorized(handle);
  EXPECT_FALSE(delegation->allows(user(1, 10, {100, 101}), kRead));
}

TEST_F(DelegationAccess, OneThatIsGrantedAgainHasItsNewStateid) {
  const DelegationRef delegation =
      table.put(handle, user(1, 1), {stateid(1), false, false}, {}, false);
  table.put(handle, user(1, 1), {stateid(2), true, false}, {}, false);
  EXPECT_EQ(delegation->newest_stateid(), stateid(2));
  EXPECT_TRUE(delegation->writes());
}

TEST_F(DelegationAccess, OneIsReturnedOnceAndUnknownThen) {
  const DelegationRef delegation =
      table.put(handle, user(1, 1), {stateid(1), false, false}, {}, false);
  EXPECT_TRUE(table.begin_return(*delegation));
  EXPECT_FALSE(table.begin_return(*delegation));
  EXPECT_FALSE(table.end(*delegation)) << "it was not lost";
  EXPECT_FALSE(table.find(handle));
}

TEST_F(DelegationAccess, ARevokedOneIsToBeFreed) {
  for (const auto status : {nfs4::NFS4ERR_ADMIN_REVOKED, nfs4::NFS4ERR_DELEG_REVOKED,
                            nfs4::NFS4ERR_EXPIRED, nfs4::NFS4ERR_BAD_STATEID}) {
    Delegation delegation(handle, user(1, 1), {stateid(1), false, false});
    delegation.on_refused(status);
    EXPECT_TRUE(delegation.recovering());
    EXPECT_EQ(delegation.revoked(), status != nfs4::NFS4ERR_BAD_STATEID);
    delegation.reclaimed({stateid(7, 9), true, false});
    EXPECT_FALSE(delegation.recovering());
    EXPECT_EQ(delegation.newest_stateid(), stateid(7, 9));
  }
}

class OpenFileTest : public ::testing::Test {
 protected:
  VirtualReactor reactor;
  std::shared_ptr<OpenFile> file = std::make_shared<OpenFile>(reactor, FileHandle(), user(1, 1));
};

TEST_F(OpenFileTest, AnOlderStateidReplacesNoNewerOne) {
  file->opened(stateid(5), kRead);
  file->opened(stateid(4), kWrite);
  EXPECT_EQ(file->newest_stateid(), stateid(5));
  EXPECT_EQ(file->server_access(), kBoth);
  file->opened(stateid(6), kRead);
  EXPECT_EQ(file->newest_stateid(), stateid(6));
}

TEST_F(OpenFileTest, SeqidsWrap) {
  file->opened(stateid(0xffffffff), kRead);
  file->opened(stateid(1), kRead);
  EXPECT_EQ(file->newest_stateid(), stateid(1));
}

TEST_F(OpenFileTest, AnOpenThatWasMergedDuringADowngradeKeepsItsAccess) {
  file->opened(stateid(1), kBoth);
  file->add_reference(kRead, user(1, 1));
  file->add_reference(kWrite, user(1, 1));
  file->downgraded(stateid(2), kRead);
  EXPECT_EQ(file->server_access(), kBoth);
}

TEST_F(OpenFileTest, AnAccessThatWasGivenUpIsNotAskedForAgain) {
  file->opened(stateid(1), kRead);
  file->opened(stateid(2), kWrite);
  file->add_reference(kRead, user(1, 1));
  file->downgraded(stateid(3), kRead);
  EXPECT_EQ(file->server_access(), kRead);
  file->add_reference(kWrite, user(1, 1));
  EXPECT_EQ(file->unclaimed(), kWrite);
}

TEST_F(OpenFileTest, OneThatIsInUseWhenTheServerClosedItIsOpenedAnew) {
  file->opened(stateid(1), kRead);
  file->closed();
  EXPECT_EQ(file->claim(), OpenFile::Claim::none);
  file->opened(stateid(2), kRead);
  file->add_reference(kRead, user(1, 1));
  file->closed();
  EXPECT_EQ(file->claim(), OpenFile::Claim::anew);
}

TEST_F(OpenFileTest, WhatWasRevokedIsNotOpenedAnew) {
  file->opened(stateid(1), kRead);
  file->add_reference(kRead, user(1, 1));
  file->server_open().on_refused(nfs4::NFS4ERR_ADMIN_REVOKED);
  EXPECT_EQ(file->claim(), OpenFile::Claim::freed);
}

class LockStateTest : public OpenFileTest {
 protected:
  static constexpr LockOwner kOwner{LockKind::posix, 7};
  FileLocks::LockRef held() {
    FileLocks::LockRef lock = file->locks().obtain(kOwner);
    lock->granted(stateid(1));
    lock->at_server = true;
    lock->ranges.set({0, 9}, true);
    return lock;
  }
};

TEST_F(LockStateTest, AnOwnerWithAStateidIsNotForgotten) {
  {
    const FileLocks::LockRef lock = held();
    lock->ranges = {};
    file->locks().forget_if_unused(lock);
  }
  EXPECT_TRUE(file->locks().find(kOwner)) << "the server has the stateid";
}

TEST_F(LockStateTest, WhatIsTakenAwayIsRememberedAsLostAndToldAnew) {
  const FileLocks::LockRef lock = held();
  lock->loss_reported = true;
  EXPECT_TRUE(lock->take_away());
  EXPECT_TRUE(lock->any_lost());
  EXPECT_TRUE(lock->lost_ranges.overlaps({5, 5}));
  EXPECT_FALSE(lock->lost_ranges.overlaps({10, 10}));
  EXPECT_FALSE(lock->loss_reported);
  EXPECT_FALSE(lock->take_away()) << "nothing was held any more";
}

TEST_F(LockStateTest, IoNamesTheCurrentStateidWhateverItsSeqid) {
  const FileLocks::LockRef lock = held();
  EXPECT_EQ(lock->stateid().seqid, 0U);
  EXPECT_EQ(lock->stateid().other, stateid(1).other);
}

TEST_F(LockStateTest, ARefusalIsNotedUntilItIsMended) {
  const FileLocks::LockRef lock = held();
  lock->on_refused(nfs4::NFS4ERR_ADMIN_REVOKED);
  EXPECT_TRUE(lock->recovering());
  EXPECT_EQ(lock->refused, nfs4::NFS4ERR_ADMIN_REVOKED);
  lock->take_away();
  EXPECT_FALSE(lock->recovering());
  EXPECT_TRUE(lock->lost());
}

TEST_F(LockStateTest, StateidsAreForgottenAfterARestart) {
  const FileLocks::LockRef lock = held();
  file->locks().forget_stateids();
  EXPECT_FALSE(lock->established);
  EXPECT_FALSE(lock->ranges.empty());
}

Task<void> wait_for_slot(SlotTable& slots, std::optional<bool>* got) {
  const SlotHold hold = co_await slots.acquire(rpc::Urgency::ordinary);
  *got = static_cast<bool>(hold);
}

// A program that waits for a slot gets its error when the mount ends.
TEST_F(SlotTableTest, WhoWaitsForASlotGetsNoneAtTheEnd) {
  open(1, 1);
  const SlotHold held = table.take_for_recovery();
  std::optional<bool> got;
  spawn(wait_for_slot(table, &got));
  reactor.settle();
  EXPECT_FALSE(got.has_value());
  table.close();
  reactor.settle();
  EXPECT_EQ(got, false);
}

class OpenTableTest : public ::testing::Test {
 protected:
  VirtualReactor reactor;
  OpenTable table{reactor};
  FileHandle handle;
};

// RFC 8881 section 9.9: an OPEN with another stateid is another open, on which nothing is locked.
TEST_F(OpenTableTest, LocksAreLostWithTheOpenThatTheServerHasReplaced) {
  const OpenFileRef file = table.merge(user(1, 1), handle, kBoth, stateid(1, 1));
  const FileLocks::LockRef lock = file->locks().obtain({LockKind::posix, 7});
  lock->granted(stateid(1, 5));
  lock->ranges.set({0, 9}, true);
  table.merge(user(1, 1), handle, kBoth, stateid(2, 1));
  EXPECT_FALSE(lock->any_lost()) << "the same open";
  table.merge(user(1, 1), handle, kBoth, stateid(1, 2));
  EXPECT_TRUE(lock->any_lost());
  EXPECT_TRUE(lock->ranges.empty());
}

Task<void> wait_for_merge(Pauses::Pause* pause, bool* ended) {
  co_await *pause;
  *ended = true;
}

// RFC 8881 section 18.2.3: a CLOSE that names the seqid before an OPEN's is refused, and repeated
// as soon as the answer to the OPEN tells the next one.
TEST_F(OpenTableTest, ACloseWaitsNoLongerThanForTheAnswerToTheOpen) {
  const OpenFileRef file = table.merge(user(1, 1), handle, kRead, stateid(1));
  Pauses pauses(reactor);
  Pauses::Pause pause(pauses, std::chrono::seconds(15));
  file->set_until_merged(&pause);
  bool ended = false;
  spawn(wait_for_merge(&pause, &ended));
  table.merge(user(1, 1), handle, kRead, stateid(2));
  reactor.settle();
  EXPECT_TRUE(ended);
  pauses.interrupt();
  reactor.settle();
}

}  // namespace
}  // namespace nfsrdma::client
