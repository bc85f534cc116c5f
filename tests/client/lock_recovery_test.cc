// Byte-range locks and what is read and written under them: which stateid that names, and what
// becomes of both when the server takes locks away (RFC 8881 sections 8.2.5, 8.4.2.1, 8.5, 9.1).
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <vector>

#include "client/files/lock.h"
#include "client/files/locked_io.h"
#include "client/files/open_files.h"
#include "client/files/setattr.h"
#include "client/requests/errno.h"
#include "client/requests/getattr.h"
#include "client/requests/write.h"
#include "client/session/session.h"
#include "tests/client/served_mount.h"

namespace nfsrdma::client::test {
namespace {

using namespace nfs4;
using std::chrono::seconds;

constexpr LockOwner kHolder{LockKind::posix, 1};
constexpr LockOwner kNeighbour{LockKind::posix, 2};
constexpr ByteRange kFirst{0, 9};
constexpr ByteRange kSecond{20, 29};
constexpr std::uint32_t kReadWrite = OPEN4_SHARE_ACCESS_BOTH;

/// One file, open for reading and writing, on a server whose locks are mandatory.
class LockRecovery : public ServedMount {
 protected:
  LockRecovery() : ServedMount({}, ServedDirectory::kLeaseSeconds, /*mandatory_locks=*/true) {}
  void SetUp() override {
    ServedMount::SetUp();
    server_.write_file("file", std::string(100, '.'));
    file_ = open_file("file", kReadWrite);
  }
  void TearDown() override {
    file_ = {};
    reactor_.settle();
    ServedMount::TearDown();
  }

  int lock_range(LockOwner owner, ByteRange range) {
    auto locked = run(client::lock(mount(), file_.open.file(),
                                   {.owner = owner,
                                    .pid = static_cast<std::int32_t>(owner.id),
                                    .range = range,
                                    .exclusive = true}));
    return locked ? 0 : to_errno(locked.error());
  }
  int unlock_range(LockOwner owner, ByteRange range) {
    auto unlocked = run(unlock(mount(), file_.open.file(), owner, range));
    return unlocked ? 0 : to_errno(unlocked.error());
  }
  /// A WRITE of ten bytes in the name of this owner, named by the kernel as with direct I/O.
  int write_as(LockOwner owner, std::uint64_t offset) {
    const IoBy by{.owner = owner.id, .range = {offset, offset + 9}};
    const auto held = lock_for_io(file_.open->locks(), by);
    return write_in_name_of(io_state(file_.open.file(), held), offset);
  }
  int write_in_name_of(StateRef state, std::uint64_t offset) {
    Buffer data = data_->acquire();
    std::memset(data.data(), 'x', 10);
    auto written = run(write(mount(), caller(), file_.handle, std::move(state), offset,
                             data.first(10), UNSTABLE4));
    return written ? 0 : to_errno(written.error());
  }
  /// Something that makes a SEQUENCE, and then all that follows from its flags.
  void look_around() {
    EXPECT_TRUE(run(getattr(mount(), caller(), root())));
    reactor_.settle();
    EXPECT_TRUE(run(getattr(mount(), caller(), root())));
  }
  void expect_holder_lost_it() {
    EXPECT_EQ(counter("locks_lost"), 1U);
    EXPECT_EQ(counter("opens_lost"), 0U) << "the open is as it was";
    EXPECT_EQ(write_as(kHolder, 0), EIO);
    EXPECT_EQ(write_as(kHolder, 50), EIO) << "wherever the holder writes";
    EXPECT_EQ(write_in_name_of(file_.open.state(), 50), 0) << "an owner without locks goes on";
  }
  void expect_holder_can_lock_again() {
    EXPECT_EQ(unlock_range(kHolder, ByteRange::whole_file()), 0);
    EXPECT_EQ(lock_range(kHolder, kFirst), 0);
    EXPECT_EQ(write_as(kHolder, 0), 0);
    EXPECT_EQ(unlock_range(kHolder, kFirst), 0);
  }

  Opened file_;
};

// RFC 8881 section 8.2.5: the lock's stateid, where the owner has one.
TEST_F(LockRecovery, TheHolderPassesByItsOwnLockAndNobodyElseDoes) {
  ASSERT_EQ(lock_range(kHolder, kFirst), 0);
  ASSERT_EQ(lock_range(kNeighbour, kSecond), 0);
  EXPECT_EQ(write_as(kHolder, 0), 0);
  EXPECT_EQ(write_as(kNeighbour, 20), 0);
  EXPECT_EQ(write_as(kHolder, 20), EAGAIN) << "NFS4ERR_LOCKED";
  EXPECT_EQ(write_as(kNeighbour, 0), EAGAIN);
  EXPECT_EQ(write_in_name_of(file_.open.state(), 0), EAGAIN);
  EXPECT_EQ(write_as({LockKind::posix, 3}, 50), 0) << "no lock, the open's stateid";
}

TEST_F(LockRecovery, TheSizeIsChangedInTheNameOfTheLock) {
  ASSERT_EQ(lock_range(kHolder, ByteRange::whole_file()), 0);
  SetAttributes change;
  change.size = 50;
  auto refused = run(setattr(mount(), caller(), file_.handle, file_.open.state(), change));
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().is(Layer::nfs, NFS4ERR_LOCKED));
  const auto held = file_.open->locks().find(kHolder);
  const StateRef state = io_state(file_.open.file(), held);
  EXPECT_TRUE(run(setattr(mount(), caller(), file_.handle, state, change)));
}

TEST_F(LockRecovery, AWriteThatWaitedUntilTheLockWasGivenBackIsNoError) {
  ASSERT_EQ(lock_range(kHolder, kFirst), 0);
  const StateRef state = io_state(file_.open.file(), file_.open->locks().find(kHolder));
  ASSERT_EQ(unlock_range(kHolder, kFirst), 0);
  ASSERT_TRUE(run(unlock_all(mount(), file_.open.file(), kHolder)));
  EXPECT_EQ(write_in_name_of(state, 0), 0) << "by the open";
}

TEST_F(LockRecovery, TheReclaimedLockIsNamedAfterAReboot) {
  ASSERT_EQ(lock_range(kHolder, kFirst), 0);
  server_.forget_arrivals();
  server_.reboot(/*grace_seconds=*/45);
  EXPECT_EQ(write_as(kHolder, 0), 0);
  EXPECT_EQ(counter("locks_lost"), 0U);
  // Section 18.10.3: one that is not marked as a reclaim is refused until the grace period ends.
  EXPECT_EQ(std::ranges::count_if(server_.arrivals(),
                                  [](const Arrival& call) { return call.has(OP_LOCK); }),
            1);
}

// RFC 8881 sections 8.5 and 18.46.3: SEQ4_STATUS_ADMIN_STATE_REVOKED, TEST_STATEID, FREE_STATEID.
TEST_F(LockRecovery, ARevokedLockIsFoundAndItsOwnerHearsOfIt) {
  ASSERT_EQ(lock_range(kHolder, kFirst), 0);
  EXPECT_EQ(server_.service().revoke_locks(), 1U);
  look_around();
  EXPECT_EQ(server_.successes_of(OP_FREE_STATEID), 1);
  expect_holder_lost_it();
  expect_holder_can_lock_again();
}

// RFC 8881 section 18.48.3: TEST_STATEID of a stateid whose seqid LOCKU has counted on is
// NFS4ERR_OLD_STATEID, which says nothing of a revoked lock.
TEST_F(LockRecovery, ARevokedLockIsFoundAfterAPartWasUnlocked) {
  ASSERT_EQ(lock_range(kHolder, kFirst), 0);
  ASSERT_EQ(unlock_range(kHolder, {0, 4}), 0);
  EXPECT_EQ(server_.service().revoke_locks(), 1U);
  look_around();
  EXPECT_EQ(counter("locks_lost"), 1U);
}

// The flag comes with the answer of the WRITE itself.
TEST_F(LockRecovery, AWriteFindsTheRevokedLockFirst) {
  ASSERT_EQ(lock_range(kHolder, kFirst), 0);
  ASSERT_EQ(lock_range(kNeighbour, kSecond), 0);
  server_.service().revoke_locks();
  EXPECT_EQ(write_as(kHolder, 0), EIO);
  EXPECT_EQ(write_as(kNeighbour, 20), EIO);
  EXPECT_EQ(counter("locks_lost"), 2U);
  EXPECT_EQ(counter("opens_lost"), 0U);
}

// A lock taken again without unlocking is no way past the loss: the owner is told once at least.
TEST_F(LockRecovery, LockingAgainDoesNotHideTheLoss) {
  ASSERT_EQ(lock_range(kHolder, kFirst), 0);
  server_.service().revoke_locks();
  look_around();
  EXPECT_EQ(lock_range(kHolder, kFirst), 0);
  EXPECT_EQ(write_as(kHolder, 0), EIO);
  EXPECT_EQ(lock_range(kHolder, kFirst), 0) << "now the holder knows";
  EXPECT_EQ(write_as(kHolder, 0), 0);
}

TEST_F(LockRecovery, ALockThatIsRefusedInAnOperationIsAskedForAnew) {
  ASSERT_EQ(lock_range(kHolder, kFirst), 0);
  server_.service().revoke_locks();
  EXPECT_EQ(lock_range(kHolder, kSecond), 0) << "with the open's stateid";
  EXPECT_EQ(counter("locks_lost"), 1U);
  EXPECT_EQ(write_as(kHolder, 20), EIO);
  EXPECT_EQ(unlock_range(kHolder, ByteRange::whole_file()), 0);
}

struct ReclaimRefusal {
  const char* name;
  nfsstat4 status;
};

class LockNotReclaimed : public LockRecovery,
                         public ::testing::WithParamInterface<ReclaimRefusal> {};

TEST_P(LockNotReclaimed, CostsTheLockOnly) {
  ASSERT_EQ(lock_range(kHolder, kFirst), 0);
  server_.fail(OP_LOCK, GetParam().status);
  server_.reboot(/*grace_seconds=*/45);
  look_around();
  reactor_.advance(seconds(46));
  expect_holder_lost_it();
  expect_holder_can_lock_again();
}

INSTANTIATE_TEST_SUITE_P(With, LockNotReclaimed,
                         ::testing::Values(ReclaimRefusal{"Conflict", NFS4ERR_RECLAIM_CONFLICT},
                                           ReclaimRefusal{"Bad", NFS4ERR_RECLAIM_BAD},
                                           ReclaimRefusal{"NoGrace", NFS4ERR_NO_GRACE},
                                           ReclaimRefusal{"Denied", NFS4ERR_DENIED}),
                         [](const auto& of) { return std::string(of.param.name); });

TEST_F(LockRecovery, IsLostWithAServerThatGivesNothingBack) {
  ASSERT_EQ(lock_range(kHolder, kFirst), 0);
  server_.reboot(/*grace_seconds=*/0);
  look_around();
  expect_holder_lost_it();
  expect_holder_can_lock_again();
}

// One refused stateid of the open says nothing about the locks: the server is asked.
TEST_F(LockRecovery, LocksOutliveARefusedOpen) {
  ASSERT_EQ(lock_range(kHolder, kFirst), 0);
  file_.open.file()->server_open().on_refused(NFS4ERR_BAD_STATEID);
  mount().session().state_refused();
  reactor_.settle();
  EXPECT_EQ(counter("opens_reopened"), 1U);
  EXPECT_EQ(counter("opens_lost"), 0U);
  EXPECT_EQ(counter("locks_lost"), 0U);
  EXPECT_EQ(write_as(kHolder, 0), 0);
  EXPECT_EQ(unlock_range(kHolder, kFirst), 0);
}

/// Whose lock it is, where the kernel does not say so.
class LockForIo : public LockRecovery {
 protected:
  void SetUp() override {
    LockRecovery::SetUp();
    ASSERT_EQ(lock_range(kHolder, kFirst), 0);
    ASSERT_EQ(lock_range(kNeighbour, kSecond), 0);
    ASSERT_EQ(lock_range({LockKind::flock, 77}, {40, 49}), 0);
  }
  /// Its owner's number; 0: there is none.
  std::uint64_t owner_of(const IoBy& by) {
    const auto found = lock_for_io(file_.open->locks(), by);
    return found ? found->owner.id : 0;
  }
};

TEST_F(LockForIo, IsNotTheFlockOfAnotherDescription) {
  EXPECT_EQ(owner_of({.pid = 9, .description = 77, .range = {40, 49}}), 77U);
  EXPECT_EQ(owner_of({.pid = 9, .description = 78, .range = {40, 49}}), 0U);
}

TEST_F(LockForIo, IsChosenByWhatIsKnown) {
  const std::vector<std::uint64_t> both{1, 2};
  const std::vector<std::uint64_t> second{2};
  EXPECT_EQ(owner_of({.owner = 2, .range = kFirst}), 2U) << "named by the kernel";
  EXPECT_EQ(owner_of({.owner = 9, .range = kFirst}), 0U) << "an owner without locks";
  EXPECT_EQ(owner_of({.pid = 1, .range = {60, 69}}), 1U) << "the process that has locked";
  EXPECT_EQ(owner_of({.pid = 9, .range = kFirst}), 0U) << "another process, another open file";
  EXPECT_EQ(owner_of({.pid = 9, .lockers = second, .range = {60, 69}}), 2U) << "the open file";
  EXPECT_EQ(owner_of({.pid = 9, .lockers = both, .range = kSecond}), 2U)
      << "the one that covers it";
  EXPECT_EQ(owner_of({.pid = 9, .description = 77, .range = {60, 69}}), 77U) << "flock";
  EXPECT_EQ(owner_of({.range = kSecond}), 2U) << "written back by the kernel";
  EXPECT_EQ(owner_of({.range = {60, 69}}), 0U);
  file_.open->locks().find(kHolder)->take_away();
  EXPECT_EQ(owner_of({.pid = 9, .lockers = both, .range = kSecond}), 1U) << "a lost one first";
}

// RFC 8881 section 8.4.2.1: after the grace period another client may have had the lock. That is
// known although the server cannot be asked for it.
TEST_F(LockRecovery, IsLostWithAServerThatGivesNothingBackAndTellsNothing) {
  ASSERT_EQ(lock_range(kHolder, kFirst), 0);
  server_.fail(OP_TEST_STATEID, NFS4ERR_NOTSUPP, 100);
  server_.reboot(/*grace_seconds=*/0);
  look_around();
  expect_holder_lost_it();
}

// The server has restarted before the loss was acknowledged, and gives the lock back.
TEST_F(LockRecovery, ARefusedLockThatIsReclaimedMeanwhileIsHeld) {
  ASSERT_EQ(lock_range(kHolder, kFirst), 0);
  bool struck = false;
  server_.fate = [&](const Arrival& arrival) {
    if (!arrival.has(OP_FREE_STATEID) || std::exchange(struck, true)) return Fate::answer;
    server_.reboot(/*grace_seconds=*/45);
    return Fate::disconnect_before;
  };
  server_.service().revoke_locks();
  look_around();
  reactor_.advance(seconds(46));
  EXPECT_TRUE(struck);
  EXPECT_EQ(counter("locks_lost"), 0U);
  EXPECT_EQ(write_as(kHolder, 0), 0);
}

}  // namespace
}  // namespace nfsrdma::client::test
