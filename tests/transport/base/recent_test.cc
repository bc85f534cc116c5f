#include "transport/base/recent.h"

#include <gtest/gtest.h>

namespace nfsrdma {
namespace {

std::vector<int> latest(const Recent<int>& ring, std::size_t most) {
  std::vector<int> found;
  ring.visit(most, [&](int entry) { found.push_back(entry); });
  return found;
}

TEST(Recent, HasNothingAtFirst) { EXPECT_TRUE(latest(Recent<int>(4), 10).empty()); }

TEST(Recent, KeepsTheOrderBeforeItIsFull) {
  Recent<int> ring(4);
  for (int i = 1; i <= 3; ++i) ring.add(i);
  EXPECT_EQ(latest(ring, 10), (std::vector{1, 2, 3}));
  EXPECT_EQ(latest(ring, 2), (std::vector{2, 3}));
  EXPECT_TRUE(latest(ring, 0).empty());
}

// Every place of the oldest within the ring.
TEST(Recent, TheOldestMakesRoomForTheNext) {
  Recent<int> ring(4);
  for (int last = 1; last <= 12; ++last) {
    ring.add(last);
    EXPECT_EQ(ring.added(), static_cast<std::uint64_t>(last));
    if (last < 4) continue;
    EXPECT_EQ(latest(ring, 10), (std::vector{last - 3, last - 2, last - 1, last}));
    EXPECT_EQ(latest(ring, 1), std::vector{last});
  }
}

}  // namespace
}  // namespace nfsrdma
