// Which replies may replace remembered attributes, and how long these are believed
// (RFC 8881 sections 5.8.1.4, 10.3).
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "cache/attr/cached_attributes.h"

namespace nfsrdma::cache {
namespace {

using namespace std::chrono_literals;
using Outcome = CachedAttributes::Outcome;

FileAttributes file(std::uint64_t change, std::uint64_t size = 0) {
  FileAttributes attributes;
  attributes.change = change;
  attributes.size = size;
  attributes.mode = S_IFREG | 0644;
  return attributes;
}

FileAttributes directory(std::uint64_t change) {
  FileAttributes attributes = file(change);
  attributes.mode = S_IFDIR | 0755;
  return attributes;
}

class CachedAttributesTest : public ::testing::Test {
 protected:
  Outcome fetch(const FileAttributes& fresh) { return cached.store(fresh, issue(), clock, policy); }
  Issue issue() { return clock.issue(now); }

  AttributePolicy policy;
  IssueClock clock;
  TimePoint now{1000s};
  CachedAttributes cached;
};

TEST_F(CachedAttributesTest, NothingIsKnownAtFirst) {
  EXPECT_FALSE(cached.known());
  EXPECT_EQ(cached.remaining(now), 0s);
}

TEST_F(CachedAttributesTest, AFileIsBelievedForTheShortestTimeAtFirst) {
  EXPECT_EQ(fetch(file(1)), Outcome::changed);
  EXPECT_EQ(cached.remaining(now), 3s);
  EXPECT_EQ(cached.remaining(now + 2s), 1s);
  EXPECT_EQ(cached.remaining(now + 4s), 0s);
}

// RFC 8881 section 5.8.1.4 has the change attribute differ; a slow clock does not.
TEST_F(CachedAttributesTest, AnotherSizeOfAFileIsAChange) {
  fetch(file(1, 10));
  now += 10s;
  EXPECT_EQ(fetch(file(1, 20)), Outcome::changed);
  EXPECT_EQ(cached.period(), 3s) << "a file that changes is believed for the shortest time";
  FileAttributes of_directory = directory(2);
  fetch(of_directory);
  of_directory.size = 4096;
  EXPECT_EQ(fetch(of_directory), Outcome::unchanged);
}

TEST_F(CachedAttributesTest, ADirectoryHasTimesOfItsOwn) {
  fetch(directory(1));
  EXPECT_EQ(cached.remaining(now), 30s);
  EXPECT_EQ(cached.period(), 30s);
}

TEST_F(CachedAttributesTest, TimeCountsFromTheRequestNotFromTheReply) {
  const Issue sent = issue();
  now += 2s;
  cached.store(file(1), sent, clock, policy);
  EXPECT_EQ(cached.remaining(now), 1s);
}

TEST_F(CachedAttributesTest, EachUnchangedPeriodDoublesTheTimeUpToTheLongest) {
  fetch(file(1));
  for (const Duration expected : {6s, 12s, 24s, 48s, 60s, 60s}) {
    now += cached.period();
    EXPECT_EQ(fetch(file(1)), Outcome::unchanged);
    EXPECT_EQ(cached.remaining(now), expected);
  }
}

TEST_F(CachedAttributesTest, ARevalidationBeforeThePeriodIsOverDoesNotDoubleIt) {
  fetch(file(1));
  now += 1s;
  fetch(file(1));
  EXPECT_EQ(cached.remaining(now), 3s);
}

TEST_F(CachedAttributesTest, AChangeGoesBackToTheShortestTime) {
  fetch(file(1));
  now += 3s;
  fetch(file(1));
  now += 6s;
  EXPECT_EQ(fetch(file(2)), Outcome::changed);
  EXPECT_EQ(cached.remaining(now), 3s);
}

TEST_F(CachedAttributesTest, NoacBelievesNothing) {
  policy.noac = true;
  fetch(file(1));
  EXPECT_EQ(cached.remaining(now), 0s);
  EXPECT_EQ(cached.period(), 0s);
}

TEST_F(CachedAttributesTest, ALongestBelowTheShortestIsTheShortest) {
  policy.acregmax = 1s;
  fetch(file(1));
  now += 3s;
  fetch(file(1));
  EXPECT_EQ(cached.remaining(now), 3s);
}

TEST_F(CachedAttributesTest, AnExpiredValueStaysAsABase) {
  fetch(file(1, 10));
  cached.expire();
  EXPECT_EQ(cached.remaining(now), 0s);
  EXPECT_EQ(cached.value().size, 10u);
  EXPECT_EQ(fetch(file(1, 10)), Outcome::unchanged);
  EXPECT_EQ(cached.remaining(now), 3s);
}

TEST_F(CachedAttributesTest, AnOvertakenReplyIsDropped) {
  const Issue first = issue();
  const Issue second = issue();
  cached.store(file(5, 50), second, clock, policy);
  EXPECT_EQ(cached.store(file(4, 40), first, clock, policy), Outcome::older);
  EXPECT_EQ(cached.value().size, 50u);
}

// What was asked for before the last update, and answered after it, may have been read at the
// server before that: its order says nothing.
TEST_F(CachedAttributesTest, OfTwoOverlappingRequestsTheLaterChangeStays) {
  const Issue first = issue();
  const Issue second = issue();
  EXPECT_EQ(cached.store(file(5, 50), first, clock, policy), Outcome::changed);
  EXPECT_EQ(cached.store(file(4, 40), second, clock, policy), Outcome::older);
  EXPECT_EQ(cached.value().size, 50u);
}

TEST_F(CachedAttributesTest, AnOvertakenReplyWithALaterChangeWins) {
  const Issue first = issue();
  const Issue second = issue();
  cached.store(file(4, 40), second, clock, policy);
  EXPECT_EQ(cached.store(file(5, 50), first, clock, policy), Outcome::changed);
  EXPECT_EQ(cached.value().size, 50u);
}

TEST_F(CachedAttributesTest, ARequestThatWasUnderWayAtTheLastUpdateIsNotTrustedWithTheSameChange) {
  const Issue first = issue();
  fetch(file(5));
  now += 2s;
  EXPECT_EQ(cached.store(file(5), first, clock, policy), Outcome::older);
  EXPECT_EQ(cached.remaining(now), 1s);
}

TEST_F(CachedAttributesTest, ALaterRequestWinsWhateverItsChangeAttribute) {
  fetch(file(5, 50));
  EXPECT_EQ(fetch(file(3, 30)), Outcome::changed);
  EXPECT_EQ(cached.value().size, 30u);
}

TEST_F(CachedAttributesTest, TheChangeAttributeMayWrapAround) {
  const Issue first = issue();
  const Issue second = issue();
  cached.store(file(UINT64_MAX), second, clock, policy);
  EXPECT_EQ(cached.store(file(1), first, clock, policy), Outcome::changed);
}

TEST_F(CachedAttributesTest, KnowsWhetherItWasAskedForAfterAnEvent) {
  fetch(file(1));
  const std::uint64_t event = clock.last();
  EXPECT_FALSE(cached.newer_than(event));
  fetch(file(1));
  EXPECT_TRUE(cached.newer_than(event));
}

// Whatever was asked for meanwhile: the answer tells nothing of what came behind its request.
TEST_F(CachedAttributesTest, AnAnswerIsOfTheTimeOfItsRequest) {
  const Issue sent = issue();
  const Issue later = issue();
  cached.store(file(1), sent, clock, policy);
  EXPECT_TRUE(cached.newer_than(sent.order - 1));
  EXPECT_FALSE(cached.newer_than(sent.order));
  EXPECT_FALSE(cached.newer_than(later.order));
}

// MKDIR in a listed directory: the listing that is still being read has its attributes of before.
TEST_F(CachedAttributesTest, WhatWasAskedBeforeAnOwnChangeDoesNotOutliveIt) {
  fetch(directory(1));
  const Issue before = issue();
  cached.expire_answers(clock.last());
  EXPECT_EQ(cached.store(directory(1), before, clock, policy), Outcome::older);
  EXPECT_FALSE(cached.stands());
  EXPECT_EQ(fetch(directory(2)), Outcome::changed);
  EXPECT_TRUE(cached.stands());
}

// It has the first of two own changes, and not the second.
TEST_F(CachedAttributesTest, WhatWasAskedBeforeAnOwnChangeIsAskedForAgainThoughItIsNewer) {
  fetch(directory(1));
  const Issue before = issue();
  cached.expire_answers(clock.last());
  EXPECT_EQ(cached.store(directory(2), before, clock, policy), Outcome::changed);
  EXPECT_FALSE(cached.stands());
  fetch(directory(3));
  EXPECT_TRUE(cached.stands());
}

// Else a file that is always written would never be known.
TEST_F(CachedAttributesTest, WhatAWriteOvertakesCountsForAllButTheData) {
  fetch(file(1, 10));
  now += 10s;
  const Issue asked = issue();
  cached.store_data(file(2, 20), issue(), clock, policy);
  FileAttributes all = file(1, 10);
  all.mode = S_IFREG | 0600;
  EXPECT_EQ(cached.store(all, asked, clock, policy), Outcome::unchanged);
  EXPECT_EQ(cached.value().mode, all.mode);
  EXPECT_EQ(cached.value().size, 20U);
  EXPECT_EQ(cached.value().change, 2U);
  EXPECT_GT(cached.remaining(now), 0s);
}

TEST_F(CachedAttributesTest, APartOfThemRenewsNoOthers) {
  fetch(file(1));
  now += 2s;
  EXPECT_EQ(cached.store_data(file(2, 10), issue(), clock, policy), Outcome::changed);
  EXPECT_EQ(cached.value().size, 10U);
  EXPECT_EQ(cached.remaining(now), 1s);
  cached.expire();
  EXPECT_EQ(cached.store_data(file(3, 20), issue(), clock, policy), Outcome::changed);
  EXPECT_FALSE(cached.stands());
}

}  // namespace
}  // namespace nfsrdma::cache
