// Where the kernel may have pages: never fewer than it has.
#include "fuse/kernel/page_map.h"

#include <gtest/gtest.h>

namespace nfsrdma::fuse {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

TEST(PageMapTest, KnowsWhereNothingWasRead) {
  PageMap map;
  EXPECT_FALSE(map.any(PageRange::all()));
  map.add({5 * kMiB, 5 * kMiB + 4096});
  EXPECT_TRUE(map.any({5 * kMiB, 5 * kMiB + 1}));
  EXPECT_FALSE(map.any({0, 5 * kMiB}));
  EXPECT_FALSE(map.any({6 * kMiB, 100 * kMiB}));
}

TEST(PageMapTest, WhatIsDroppedIsGoneButForWhatCameMeanwhile) {
  PageMap map;
  map.add({0, 3 * kMiB});
  const PageRange part = map.parts_of({kMiB + 100, kMiB + 200});
  EXPECT_EQ(part, (PageRange{kMiB, 2 * kMiB}));
  map.drops_begin();
  map.dropped(part);
  EXPECT_FALSE(map.any(part));
  EXPECT_TRUE(map.any({0, 1}));
  EXPECT_TRUE(map.any({2 * kMiB, 2 * kMiB + 1}));

  map.drops_begin();
  map.add(part);
  map.dropped(PageRange::all());
  EXPECT_TRUE(map.any(part));
  EXPECT_FALSE(map.any({0, 1}));
}

TEST(PageMapTest, APartThatIsDroppedInPartIsKept) {
  PageMap map;
  map.add({0, kMiB});
  map.drops_begin();
  map.dropped({0, kMiB - 4096});
  EXPECT_TRUE(map.any({0, 1}));
}

TEST(PageMapTest, ALongFileHasLongParts) {
  PageMap map;
  map.add({0, 4096});
  map.add({1000 * kMiB, 1001 * kMiB});
  EXPECT_TRUE(map.any({0, 1}));
  EXPECT_TRUE(map.any({1000 * kMiB, 1000 * kMiB + 1}));
  EXPECT_FALSE(map.any({500 * kMiB, 501 * kMiB}));
  const PageRange part = map.parts_of({1000 * kMiB, 1000 * kMiB + 1});
  EXPECT_EQ(part.end - part.begin, 16 * kMiB);
  map.drops_begin();
  map.dropped(part);
  EXPECT_FALSE(map.any({1000 * kMiB, 1001 * kMiB}));
  const std::uint64_t last = std::uint64_t{1} << 62;
  map.add({last, last + 1});
  EXPECT_TRUE(map.any({last, last + 1}));
  EXPECT_TRUE(map.any({0, 1}));
}

TEST(PageMapTest, APartThatWasDroppedInPartMayHavePages) {
  PageMap map;
  map.add({0, 3 * kMiB});
  map.drops_begin();
  map.dropped({kMiB / 2, 3 * kMiB});
  EXPECT_TRUE(map.any({0, 1}));
  EXPECT_FALSE(map.any({kMiB, 3 * kMiB}));
}

TEST(PageMapTest, NoPartIsForgottenWhenTheFileTurnsOutToBeLonger) {
  for (std::uint64_t part = 0; part < 4; ++part) {
    PageMap map;
    map.add({part * kMiB, part * kMiB + 1});
    map.add({70 * kMiB, 70 * kMiB + 1});
    EXPECT_TRUE(map.any({part * kMiB, part * kMiB + 1})) << part;
  }
}

}  // namespace
}  // namespace nfsrdma::fuse
