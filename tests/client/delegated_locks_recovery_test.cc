// What becomes of locks that only this client knows of when the server restarts or revokes their
// delegation (RFC 8881 sections 8.4.2, 10.2.1). In virtual time.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>

#include "client/requests/getattr.h"
#include "tests/client/delegated_locks.h"

namespace nfsrdma::client::test {
namespace {

using namespace nfs4;
using std::chrono::seconds;

// The server has never heard of them: they need no reclaim as long as the delegation comes back.
TEST_F(DelegatedLocks, SurviveARebootWithTheDelegation) {
  EXPECT_EQ(lock_here(kAnn, {0, 9}), 0);
  server_.reboot(/*grace_seconds=*/60);
  ASSERT_TRUE(read_text(file_));
  EXPECT_EQ(counter("delegations_reclaimed"), 1U);
  EXPECT_TRUE(local());
  EXPECT_FALSE(free_here({0, 9}));
  EXPECT_EQ(server_.successes_of(OP_LOCK), 0);
  reactor_.advance(seconds(61));
  EXPECT_FALSE(free_elsewhere({0, 9}));
  EXPECT_EQ(server_.successes_of(OP_LOCK), 1);
}

TEST_F(DelegatedLocks, AreReclaimedWhereTheOpenComesBackWithoutDelegation) {
  EXPECT_EQ(lock_here(kAnn, {0, 9}), 0);
  server_.after = [this](const Arrival& arrival) {
    if (arrival.has(OP_CREATE_SESSION)) server_.lose_callback_path();
  };
  server_.reboot(/*grace_seconds=*/60);
  ASSERT_TRUE(read_text(file_));
  server_.after = nullptr;
  EXPECT_EQ(counter("delegations_reclaimed"), 0U);
  EXPECT_EQ(counter("opens_reclaimed"), 1U);
  EXPECT_EQ(server_.successes_of(OP_LOCK), 1);
  EXPECT_EQ(counter("opens_lost"), 0U);
  reactor_.advance(seconds(61));
  EXPECT_FALSE(free_elsewhere({0, 9}));
  EXPECT_EQ(unlock_here(kAnn, {0, 9}), 0);
  EXPECT_TRUE(free_elsewhere({0, 9}));
}

TEST_F(DelegatedLocks, AreLostWithAServerThatGivesNothingBack) {
  EXPECT_EQ(lock_here(kAnn, {0, 9}), 0);
  server_.reboot(/*grace_seconds=*/0);
  EXPECT_TRUE(run(getattr(mount(), caller(), root())));
  reactor_.settle();
  expect_lost("another client may have locked the file meanwhile");
}

// RFC 8881 section 10.2.1
TEST_F(DelegatedLocks, AreLostWithARevokedDelegation) {
  EXPECT_EQ(lock_here(kAnn, {0, 9}), 0);
  server_.hold_callbacks = true;
  auto writer = open_at_other("file", kWrite);
  ASSERT_TRUE(writer) << writer.error().message();
  reactor_.advance(kLease);
  EXPECT_EQ(counter("delegations_freed"), 1U);
  expect_lost("the other client may have locked it");
  close_at(other(), std::move(writer->open));
}

TEST_F(DelegatedLocks, ARebootInTheMidstOfTheReturnCostsNone) {
  EXPECT_EQ(lock_here(kAnn, {0, 9}), 0);
  EXPECT_EQ(lock_here(kAnn, {20, 29}), 0);
  EXPECT_EQ(lock_here(kBob, {40, 49}), 0);
  int locks = 0;
  server_.after = [this, &locks](const Arrival& arrival) {
    if (arrival.has(OP_LOCK) && ++locks == 2) server_.reboot(/*grace_seconds=*/45);
  };
  server_.service().recall_delegations();
  reactor_.advance(seconds(120));
  server_.after = nullptr;
  EXPECT_EQ(counter("opens_lost"), 0U);
  EXPECT_EQ(counter("delegations"), 0U);
  for (const std::uint64_t first : {0U, 20U, 40U}) {
    EXPECT_FALSE(free_elsewhere({first, first + 9})) << first;
  }
  EXPECT_TRUE(free_elsewhere({10, 19}));
}

// As unhurried as the restart may be: the locks are reclaimed, not asked for as new ones, which
// would have to wait for the end of the grace period.
TEST_F(DelegatedLocks, ALongRebootInTheMidstOfTheReturnCostsNone) {
  EXPECT_EQ(lock_here(kAnn, {0, 9}), 0);
  EXPECT_EQ(lock_here(kBob, {40, 49}), 0);
  bool first = true;
  server_.after = [this, &first](const Arrival& arrival) {
    if (!arrival.has(OP_LOCK) || !std::exchange(first, false)) return;
    server_.unreachable = true;
    server_.reboot(/*grace_seconds=*/4 * ServedDirectory::kLeaseSeconds);
  };
  // The other client, whose turn is the second, keeps the grace period from ending early.
  server_.fate = [back = false](const Arrival& arrival) mutable {
    if (!arrival.has(OP_EXCHANGE_ID)) return Fate::answer;
    return std::exchange(back, true) ? Fate::disconnect_before : Fate::answer;
  };
  server_.service().recall_delegations();
  reactor_.advance(kLease + seconds(10));
  server_.unreachable = false;
  reactor_.advance(5 * kLease);
  server_.after = nullptr;
  server_.fate = nullptr;
  EXPECT_EQ(counter("locks_lost"), 0U);
  EXPECT_EQ(counter("delegations"), 0U);
  EXPECT_FALSE(free_elsewhere({0, 9}));
  EXPECT_FALSE(free_elsewhere({40, 49}));
}

// RFC 8881 section 8.4.2.1: the lock that the server granted before it restarted is not among those
// that are reclaimed while the delegation is held.
TEST_F(DelegatedLocks, ARebootBetweenTwoRangesOfOneOwnerCostsNone) {
  EXPECT_EQ(lock_here(kAnn, {0, 9}), 0);
  EXPECT_EQ(lock_here(kAnn, {20, 29}), 0);
  bool first = true;
  server_.after = [this, &first](const Arrival& arrival) {
    if (!arrival.has(OP_LOCK) || !std::exchange(first, false)) return;
    server_.reboot(/*grace_seconds=*/45);
  };
  server_.service().recall_delegations();
  reactor_.advance(seconds(120));
  server_.after = nullptr;
  EXPECT_EQ(counter("locks_lost"), 0U);
  EXPECT_EQ(counter("delegations"), 0U);
  EXPECT_FALSE(free_elsewhere({0, 9}));
  EXPECT_FALSE(free_elsewhere({20, 29}));
}

}  // namespace
}  // namespace nfsrdma::client::test
