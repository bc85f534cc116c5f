// Which version of a file cached pages belong to, when this client and others change it.
#include "cache/attr/own_changes.h"

#include <gtest/gtest.h>

namespace nfsrdma::cache {
namespace {

TEST(OwnChanges, FollowsStepsOfThisClient) {
  OwnChanges changes;
  EXPECT_EQ(changes.follow(10, 10, 11), 11U);
  EXPECT_EQ(changes.follow(11, 11, 15), 15U);
}

TEST(OwnChanges, PutsRepliesInOrderThatOvertookEachOther) {
  OwnChanges changes;
  EXPECT_EQ(changes.follow(10, 12, 13), 10U);
  EXPECT_EQ(changes.follow(10, 11, 12), 10U);
  EXPECT_EQ(changes.follow(10, 10, 11), 13U);
}

TEST(OwnChanges, NeverPassesAChangeOfSomebodyElse) {
  OwnChanges changes;
  EXPECT_EQ(changes.follow(10, 11, 12), 10U);  // 10 to 11 was another client
  EXPECT_EQ(changes.follow(10, 12, 13), 10U);
  // The pages have been fetched anew meanwhile: the later steps count from there.
  EXPECT_EQ(changes.follow(12, 13, 14), 14U);
}

TEST(OwnChanges, AChangeThatLeavesTheVersionAloneIsNoStep) {
  OwnChanges changes;
  EXPECT_EQ(changes.follow(10, 10, 10), 10U);
}

TEST(OwnChanges, ManyUnderWayCostOnlyTheOldest) {
  OwnChanges changes;
  for (std::uint64_t change = 100; change > 50; --change) {
    EXPECT_EQ(changes.follow(50, change, change + 1), 50U);
  }
  EXPECT_EQ(changes.follow(50, 50, 51), 82U);  // 51 to 81 of the last 32 steps
}

}  // namespace
}  // namespace nfsrdma::cache
