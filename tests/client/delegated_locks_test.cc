// Locks on files that are delegated (RFC 8881 section 10.4.2): taken without a request, refused
// among the owners of this mount, and known to the server before anybody else gets the file.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "client/requests/getattr.h"
#include "client/session/session.h"
#include "client/state/lock_waiters.h"
#include "tests/client/delegated_locks.h"

namespace nfsrdma::client::test {
namespace {

using namespace nfs4;
using std::chrono::seconds;

TEST_F(DelegatedLocks, SendNothing) {
  const std::size_t before = requests();
  EXPECT_EQ(lock_here(kAnn, {0, 99}), 0);
  EXPECT_EQ(lock_here(kAnn, {20, 29}, /*exclusive=*/false), 0) << "downgrade of a part";
  EXPECT_EQ(unlock_here(kAnn, {50, 59}), 0);
  EXPECT_EQ(lock_here(kBob, {50, 59}), 0);
  EXPECT_EQ(lock_here(kDescription, {20, 29}, /*exclusive=*/false), 0);
  EXPECT_FALSE(free_here({0, 9}));
  EXPECT_TRUE(free_here({100, ByteRange::kEnd}));
  EXPECT_TRUE(run(unlock_all(mount(), file_.open.file(), kAnn)));
  EXPECT_TRUE(run(unlock_all(mount(), file_.open.file(), kBob)));
  EXPECT_TRUE(run(unlock_all(mount(), file_.open.file(), kDescription)));
  EXPECT_TRUE(free_here(ByteRange::whole_file()));
  EXPECT_EQ(requests(), before);
  EXPECT_EQ(counter("delegation_locks"), 4U);
}

TEST_F(DelegatedLocks, OwnersAreInEachOthersWay) {
  EXPECT_EQ(lock_here(kAnn, {0, 9}), 0);
  EXPECT_EQ(lock_here(kBob, {9, 20}), EAGAIN);
  EXPECT_EQ(lock_here(kDescription, ByteRange::whole_file(), false), EAGAIN);
  EXPECT_EQ(lock_here(kBob, {10, 20}), 0);
  EXPECT_EQ(lock_here(kAnn, {0, 9}, false), 0) << "downgrade";
  EXPECT_EQ(lock_here(kBob, {0, 9}, false), 0) << "shared beside shared";
  EXPECT_EQ(lock_here(kAnn, {0, 9}), EAGAIN) << "upgrade beside another reader";
  EXPECT_FALSE(free_here({0, 9})) << "what was shared stays so when an upgrade fails";
  EXPECT_EQ(unlock_here(kBob, {0, 9}), 0);
  EXPECT_EQ(lock_here(kAnn, {0, 9}), 0) << "upgrade";
  EXPECT_EQ(unlock_here(kAnn, {3, 5}), 0);
  EXPECT_EQ(lock_here(kBob, {3, 5}), 0) << "the hole";
  EXPECT_EQ(lock_here(kBob, {5, 6}), EAGAIN) << "behind the hole";
}

TEST_F(DelegatedLocks, WhatIsInTheWayIsDescribed) {
  EXPECT_EQ(lock_here(kBob, {10, 19}, /*exclusive=*/false), 0);
  auto tested = run(test_lock(mount(), file_.open.file(), wanted(kAnn, {0, 99}, true)));
  ASSERT_TRUE(tested && *tested);
  EXPECT_EQ((*tested)->range, (ByteRange{10, 19}));
  EXPECT_FALSE((*tested)->exclusive);
  EXPECT_EQ((*tested)->pid, 2);
  auto own = run(test_lock(mount(), file_.open.file(), wanted(kBob, {0, 99}, true)));
  EXPECT_TRUE(own && !*own) << "no owner is in its own way";
}

TEST_F(DelegatedLocks, TheFileMustBeOpenForThem) {
  server_.write_file("writable", "x");
  Opened writer = open_delegated("writable", kWrite);
  auto locked = run(client::lock(mount(), writer.open.file(), wanted(kAnn, {0, 9}, false)));
  ASSERT_FALSE(locked);
  EXPECT_TRUE(locked.error().is(Layer::nfs, NFS4ERR_OPENMODE));
  close_at(mount(), std::move(writer.open));
}

// RFC 8881 section 10.4.2: under a read delegation every lock is the server's.
TEST_F(DelegatedLocks, UnderAReadDelegationAreTheServers) {
  server_.write_file("readable", "x");
  Opened reader = open_delegated("readable", kRead);
  auto locked = run(client::lock(mount(), reader.open.file(), wanted(kAnn, {0, 9}, false)));
  ASSERT_TRUE(locked) << locked.error().message();
  EXPECT_EQ(server_.successes_of(OP_LOCK), 1);
  close_at(mount(), std::move(reader.open));
}

// Locks at the server stand on an open that it knows.
TEST_F(DelegatedLocks, AtTheServerHaveItKnowTheOpen) {
  server_.write_file("readable", "x");
  Opened reader = open_delegated("readable", kRead);
  Credential second = caller();
  second.uid += 1;
  auto admitted = run(open(mount(), second, reader.handle, kRead));
  ASSERT_TRUE(admitted) << admitted.error().message();
  close_at(mount(), std::move(admitted->open));
  auto local = open_locally(mount(), second, reader.handle, kRead);
  ASSERT_TRUE(local);
  auto locked = run(client::lock(mount(), local->open.file(), wanted(kAnn, {0, 9}, false)));
  ASSERT_TRUE(locked) << locked.error().message();
  EXPECT_EQ(counter("open_claims"), 1U);
  EXPECT_TRUE(run(unlock_all(mount(), local->open.file(), kAnn)));
  close_at(mount(), std::move(local->open));
  close_at(mount(), std::move(reader.open));
}

// Neither knows what the other has granted: locks that began at the server go on there, all of
// them.
TEST_F(DelegatedLocks, StayAtTheServerWhereTheyWereBeforeTheDelegation) {
  server_.write_file("early", "x");
  auto early =
      run(open(mount(), caller(), open_file("early", kRead).handle, kBoth, Delegating::unwanted));
  ASSERT_TRUE(early);
  give_back(early->handle);
  ASSERT_TRUE(run(client::lock(mount(), early->open.file(), wanted(kAnn, {0, 9}, true))));
  Opened later = open_file("early", kBoth);
  ASSERT_TRUE(mount().delegations().held(later.handle)) << "the delegation comes behind the lock";
  EXPECT_EQ(
      to_errno(run(client::lock(mount(), later.open.file(), wanted(kBob, {0, 9}, true))).error()),
      EAGAIN);
  ASSERT_TRUE(run(client::lock(mount(), later.open.file(), wanted(kBob, {10, 19}, true))));
  EXPECT_EQ(server_.successes_of(OP_LOCK), 2);
  // When all have gone, the next is kept here.
  ASSERT_TRUE(run(unlock_all(mount(), early->open.file(), kAnn)));
  ASSERT_TRUE(run(unlock_all(mount(), later.open.file(), kBob)));
  ASSERT_TRUE(run(client::lock(mount(), later.open.file(), wanted(kBob, {0, 9}, true))));
  EXPECT_EQ(server_.successes_of(OP_LOCK), 2);
  close_at(mount(), std::move(later.open));
  close_at(mount(), std::move(early->open));
}

TEST_F(DelegatedLocks, GoWithTheLastOpen) {
  EXPECT_EQ(lock_here(kAnn, {0, 9}), 0);
  close_at(mount(), std::move(file_.open));
  file_ = open_file("file", kBoth);
  EXPECT_TRUE(free_here({0, 9}));
  EXPECT_TRUE(free_elsewhere({0, 9}));
}

TEST_F(DelegatedLocks, AreKnownToTheServerBeforeTheReturn) {
  // An open that the server has not seen, either.
  auto second = open_here(file_, kWrite);
  ASSERT_TRUE(second);
  EXPECT_EQ(lock_here(kAnn, {0, 9}), 0);
  EXPECT_EQ(lock_here(kAnn, {20, 29}, /*exclusive=*/false), 0);
  EXPECT_EQ(lock_here(kBob, {40, 49}), 0);
  server_.forget_arrivals();
  EXPECT_FALSE(free_elsewhere({0, 9}));
  EXPECT_FALSE(free_elsewhere({20, 29}));
  EXPECT_FALSE(free_elsewhere({40, 49}));
  EXPECT_TRUE(free_elsewhere({10, 19}));
  std::string order;
  for (const Arrival& arrival : server_.arrivals()) {
    if (arrival.has(OP_OPEN)) order += 'O';
    if (arrival.has(OP_LOCK)) order += 'L';
    if (arrival.has(OP_DELEGRETURN)) order += 'R';
  }
  // The other client's OPEN is the first, and is repeated until it gets the file.
  EXPECT_NE(order.find("OLLLR"), std::string::npos) << order;
  EXPECT_EQ(counter("delegations_returned"), 1U);
  EXPECT_EQ(counter("open_claims"), 1U);
  // They go on at the server.
  EXPECT_EQ(unlock_here(kAnn, {0, 9}), 0);
  EXPECT_TRUE(free_elsewhere({0, 9}));
  EXPECT_EQ(counter("opens_lost"), 0U);
  close_at(mount(), std::move(second->open));
}

// RFC 8881 section 10.4.2: what is asked meanwhile must not be granted over what the server does
// not know yet.
TEST_F(DelegatedLocks, WhoAsksDuringTheReturnAsksTheServerAfterIt) {
  EXPECT_EQ(lock_here(kAnn, {0, 9}), 0);
  responder::OperationFault slow;
  slow.opnum = OP_LOCK;
  slow.delay = seconds(2);
  server_.service().inject(slow);
  server_.service().recall_delegations();
  reactor_.settle();
  Pending<Result<LockGrant>> asking(locking(kBob, {5, 14}));
  Pending<Result<void>> leaving(unlock(mount(), file_.open.file(), kAnn, {0, 4}));
  reactor_.settle();
  EXPECT_FALSE(asking.done());
  EXPECT_FALSE(leaving.done());
  auto asked = finish(asking);
  ASSERT_FALSE(asked);
  EXPECT_TRUE(asked.error().is(Layer::nfs, NFS4ERR_DENIED)) << asked.error().message();
  auto left = finish(leaving);
  EXPECT_TRUE(left) << left.error().message();
  EXPECT_TRUE(free_elsewhere({0, 4}));
  EXPECT_FALSE(free_elsewhere({5, 9}));
}

TEST_F(DelegatedLocks, WhoWaitsForOneIsWokenByUnlockAndByTheReturn) {
  EXPECT_EQ(lock_here(kAnn, {0, 9}), 0);
  const auto wait = [this]() -> Task<int> {
    LockWaiters::Turn turn(mount().lock_waiters(), file_.handle, kBob, {0, 9}, false, false);
    LockWaiters::Wait waiting(turn, kLease);
    co_await waiting;
    co_return 0;
  };
  const TimePoint begun = reactor_.now();
  Pending<int> first(wait());
  EXPECT_EQ(unlock_here(kAnn, {0, 9}), 0);
  finish(first);
  EXPECT_EQ(reactor_.now(), begun);
  EXPECT_EQ(lock_here(kAnn, {0, 9}), 0);
  Pending<int> sharing(wait());
  EXPECT_EQ(lock_here(kAnn, {0, 9}, /*exclusive=*/false), 0);
  finish(sharing);
  EXPECT_EQ(reactor_.now(), begun) << "by a downgrade, too";
  Pending<int> second(wait());
  server_.service().recall_delegations();
  finish(second);
  EXPECT_LT(reactor_.now() - begun, seconds(1));
}

/// A LOCK that is to make a lock known, and its status.
struct Refusal {
  const char* name;
  nfsstat4 status;
  int times;
  bool lost;
};

class RefusedLocks : public DelegatedLocks, public ::testing::WithParamInterface<Refusal> {};

TEST_P(RefusedLocks, AreLostOrGranted) {
  const Refusal& refusal = GetParam();
  server_.write_file("bystander", kContent);
  Opened bystander = open_delegated("bystander", kBoth);
  EXPECT_EQ(lock_here(kAnn, {0, 9}), 0);
  EXPECT_EQ(lock_here(kBob, {20, 29}), 0);
  server_.fail(OP_LOCK, refusal.status, refusal.times);
  EXPECT_EQ(free_elsewhere({0, 9}), refusal.lost);
  EXPECT_FALSE(mount().delegations().held(file_.handle));
  EXPECT_EQ(counter("opens_lost"), 0U);
  auto text = read_text(bystander);
  EXPECT_TRUE(text) << text.error().message();
  EXPECT_FALSE(free_elsewhere({20, 29})) << "the other owner's is known";
  if (refusal.lost) {
    expect_lost(refusal.name);
  } else {
    EXPECT_EQ(read_as_ann(), 0);
  }
  close_at(mount(), std::move(bystander.open));
}

INSTANTIATE_TEST_SUITE_P(With, RefusedLocks,
                         ::testing::Values(Refusal{"Denied", NFS4ERR_DENIED, 1, true},
                                           Refusal{"Delay", NFS4ERR_DELAY, 3, false},
                                           Refusal{"Grace", NFS4ERR_GRACE, 3, false},
                                           Refusal{"BadStateid", NFS4ERR_BAD_STATEID, 1, false},
                                           Refusal{"Resource", NFS4ERR_RESOURCE, 1, true}),
                         [](const auto& of) { return std::string(of.param.name); });

// A process may lock a file by two opens of different users: it holds what it asked for last.
TEST_F(DelegatedLocks, ALockByAnotherUsersOpenReplacesTheOwnersEarlierOne) {
  std::filesystem::permissions(server_.path("file"), std::filesystem::perms(0666));
  Credential second = caller();
  second.uid += 1000;
  auto opened = run(open(mount(), second, file_.handle, kBoth));
  ASSERT_TRUE(opened) << opened.error().message();
  ASSERT_NE(&*opened->open, &*file_.open);
  ASSERT_TRUE(local());
  ASSERT_EQ(lock_here(kAnn, {0, 9}), 0);
  auto shared = run(client::lock(mount(), opened->open.file(), wanted(kAnn, {0, 9}, false)));
  ASSERT_TRUE(shared) << shared.error().message();
  EXPECT_EQ(lock_here(kBob, {0, 9}, false), 0) << "no exclusive lock is left";
  EXPECT_EQ(lock_here(kBob, {0, 9}), EAGAIN);
  close_at(mount(), std::move(opened->open));
}

TEST_F(DelegatedLocks, ALockThatNobodyTakesLeavesWhatItReplaced) {
  ASSERT_EQ(lock_here(kAnn, {0, 2}, /*exclusive=*/false), 0);
  ASSERT_EQ(lock_here(kAnn, {6, 7}), 0);
  auto granted = run(locking(kAnn, {0, 9}));
  ASSERT_TRUE(granted) << granted.error().message();
  server_.forget_arrivals();
  ASSERT_TRUE(run(take_back_lock(mount(), std::move(*granted))));
  EXPECT_EQ(server_.arrivals().size(), 0U) << "the locks are kept here";
  EXPECT_TRUE(free_here({3, 5}));
  EXPECT_TRUE(free_here({8, 9}));
  EXPECT_FALSE(free_here({6, 7}));
  EXPECT_EQ(lock_here(kBob, {0, 2}, /*exclusive=*/false), 0) << "shared again";
  EXPECT_EQ(lock_here(kBob, {0, 2}), EAGAIN);
}

// Its opens are being claimed: the locks are kept here, though nothing new is granted here.
TEST_F(DelegatedLocks, ALockThatNobodyTakesIsTakenBackWhileTheDelegationIsReturned) {
  ASSERT_EQ(lock_here(kAnn, {0, 9}, /*exclusive=*/false), 0);
  auto granted = run(locking(kAnn, {0, 9}));
  ASSERT_TRUE(granted) << granted.error().message();
  auto more = open_locally(mount(), caller(), file_.handle, kRead);
  ASSERT_TRUE(more);
  server_.fate = [](const Arrival& arrival) {
    return arrival.has(OP_OPEN) ? Fate::hold : Fate::answer;
  };
  const auto returning = [this]() -> Task<int> {
    co_await mount().delegations().give_back(file_.handle);
    co_return 0;
  };
  Pending returned(returning());
  reactor_.settle();
  ASSERT_FALSE(returned.done());
  ASSERT_TRUE(run(take_back_lock(mount(), std::move(*granted))));
  server_.fate = nullptr;
  server_.release_held();
  finish(returned);
  EXPECT_EQ(lock_here(kBob, {0, 9}, /*exclusive=*/false), 0) << "shared again";
  EXPECT_EQ(lock_here(kBob, {0, 9}), EAGAIN);
  close_at(mount(), std::move(more->open));
}

/// While another request of an owner is under way, the next one waits.
class BusyOwner : public DelegatedLocks {
 protected:
  /// Until `busy_` is reset.
  void keep_busy(LockOwner owner) {
    lock_ = file_.open.file()->locks().obtain(owner);
    busy_.emplace(run(taking()));
  }
  Task<AsyncMutex::Guard> taking() {
    auto guard = co_await lock_->changing.lock();
    co_return guard;
  }

  FileLocks::LockRef lock_;
  std::optional<AsyncMutex::Guard> busy_;
};

// RFC 8881 sections 8.3 and 10.2.1: the server may have given the file to others meanwhile.
TEST_F(BusyOwner, LooksAtTheLeaseAgainAfterTheWait) {
  keep_busy(kAnn);
  Pending<Result<LockGrant>> asking(locking(kAnn, {0, 9}));
  reactor_.settle();
  server_.unreachable = true;
  server_.disconnect();
  reactor_.advance(kLease + seconds(1));
  busy_.reset();
  reactor_.advance(seconds(1));
  EXPECT_FALSE(asking.done());
  server_.unreachable = false;
  auto locked = finish(asking);
  EXPECT_TRUE(locked) << locked.error().message();
  EXPECT_TRUE(mount().session().lease_holds()) << "it was renewed before anything was granted";
}

// RFC 8881 section 10.4.2: the server does not know Ann's lock yet, and would grant Bob's over it.
TEST_F(BusyOwner, AsksNobodyWhileTheLocksGoToTheServer) {
  EXPECT_EQ(lock_here(kAnn, {0, 9}), 0);
  keep_busy(kBob);
  Pending<Result<LockGrant>> asking(locking(kBob, {5, 14}));
  reactor_.settle();
  server_.fail(OP_LOCK, NFS4ERR_DELAY);
  server_.service().recall_delegations();
  reactor_.settle();
  ASSERT_EQ(server_.failures_left(OP_LOCK), 0) << "Ann's is put off";
  busy_.reset();
  auto asked = finish(asking);
  ASSERT_FALSE(asked);
  EXPECT_TRUE(asked.error().is(Layer::nfs, NFS4ERR_DENIED)) << asked.error().message();
  EXPECT_EQ(counter("locks_lost"), 0U);
  EXPECT_EQ(read_as_ann(), 0);
}

// What an owner still remembers is a lock that was lost, none that the server keeps.
TEST_F(DelegatedLocks, AreKeptHereAgainAfterOneWasLostAndRefused) {
  EXPECT_EQ(lock_here(kAnn, {0, 9}), 0);
  give_back(file_.handle);
  ASSERT_EQ(server_.service().revoke_locks(), 1U);
  EXPECT_TRUE(run(getattr(mount(), caller(), root())));
  reactor_.settle();
  ASSERT_EQ(counter("locks_lost"), 1U);
  server_.fail(OP_LOCK, NFS4ERR_DENIED);
  EXPECT_EQ(lock_here(kAnn, {0, 9}), EAGAIN);
  Opened again = open_delegated("file", kBoth);
  EXPECT_TRUE(local());
  const int before = server_.successes_of(OP_LOCK);
  EXPECT_EQ(lock_here(kBob, {20, 29}), 0);
  EXPECT_EQ(server_.successes_of(OP_LOCK), before);
  close_at(mount(), std::move(again.open));
}

// RFC 8881 section 10.4.2. The owner hears of the loss, and others need not wait for the part that
// the server has granted.
TEST_F(DelegatedLocks, AreLostAsAWholeWhenTheServerGrantsAPart) {
  EXPECT_EQ(lock_here(kAnn, {0, 9}), 0);
  EXPECT_EQ(lock_here(kAnn, {20, 29}), 0);
  bool first = true;
  server_.after = [this, &first](const Arrival& arrival) {
    if (arrival.has(OP_LOCK) && std::exchange(first, false)) server_.fail(OP_LOCK, NFS4ERR_DENIED);
  };
  give_back(file_.handle);
  server_.after = nullptr;
  EXPECT_EQ(server_.successes_of(OP_LOCK), 1);
  EXPECT_EQ(counter("locks_lost"), 1U);
  EXPECT_EQ(read_as_ann(), EIO);
  EXPECT_TRUE(free_elsewhere({0, 9}));
  EXPECT_TRUE(free_elsewhere({20, 29}));
}

}  // namespace
}  // namespace nfsrdma::client::test
