// Which version of a file cached pages belong to, when this client and others change it.
#include "cache/attr/own_changes.h"

#include <gtest/gtest.h>

#include "cache/attr/names_version.h"

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

client::NameChange step(std::uint64_t before, std::uint64_t after, bool atomic = true) {
  return nfs4::change_info4{atomic, before, after};
}

TEST(NamesVersion, ChangesMadeHereRaiseNoDoubt) {
  NamesVersion names;
  EXPECT_TRUE(names.shown(10)) << "nothing was known";
  names.changed_here(step(11, 12));  // answered out of order
  names.changed_here(step(10, 11));
  EXPECT_FALSE(names.shown(12));
}

TEST(NamesVersion, AChangeOfOthersIsNoticedBesideOwnOnes) {
  NamesVersion names;
  names.shown(10);
  names.changed_here(step(11, 12));
  EXPECT_TRUE(names.shown(12));
  EXPECT_FALSE(names.shown(12)) << "told once";
}

TEST(NamesVersion, AServerThatCannotTellIsBelievedOnce) {
  NamesVersion names;
  names.shown(10);
  names.changed_here(step(10, 11, /*atomic=*/false));
  EXPECT_FALSE(names.shown(12));
  names.changed_here({});
  EXPECT_FALSE(names.shown(13));
  EXPECT_TRUE(names.shown(14));
}

}  // namespace
}  // namespace nfsrdma::cache
