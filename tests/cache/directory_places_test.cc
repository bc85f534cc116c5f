// The offsets of an open directory: small numbers for cookies of any size, which stay what they
// are.
#include "cache/dir/directory_places.h"

#include <gtest/gtest.h>

namespace nfsrdma::cache {
namespace {

using Offsets = std::vector<std::uint64_t>;

constexpr std::uint64_t kHuge = INT64_MAX;

/// The offsets after entries with these cookies, which are read one after the other.
Offsets read(DirectoryPlaces& places, std::uint64_t from, std::vector<std::uint64_t> cookies) {
  places.go_to(from);
  Offsets offsets;
  for (const std::uint64_t cookie : cookies) offsets.push_back(places.after(cookie).value_or(0));
  return offsets;
}

TEST(DirectoryPlaces, CountsEntriesWhateverTheirCookies) {
  DirectoryPlaces places;
  EXPECT_EQ(read(places, 0, {kHuge, 7, kHuge - 1}), (Offsets{3, 4, 5}));
  EXPECT_EQ(places.cookie_at(0), 0U);
  EXPECT_EQ(places.cookie_at(DirectoryPlaces::kAfterDot), 0U);
  EXPECT_EQ(places.cookie_at(DirectoryPlaces::kAfterDotDot), 0U);
  EXPECT_EQ(places.cookie_at(3), kHuge);
  EXPECT_EQ(places.cookie_at(5), kHuge - 1);
}

TEST(DirectoryPlaces, WhatWasNotGivenOutIsNowhere) {
  DirectoryPlaces places;
  EXPECT_EQ(places.cookie_at(3), std::nullopt);
  read(places, 0, {10});
  EXPECT_EQ(places.cookie_at(3), 10U);
  EXPECT_EQ(places.cookie_at(4), std::nullopt);
  EXPECT_EQ(places.cookie_at(UINT64_MAX), std::nullopt);
}

TEST(DirectoryPlaces, StayWhenAreReadAgain) {
  DirectoryPlaces places;
  read(places, 0, {10, 11, 12, 13});
  EXPECT_EQ(read(places, 4, {12, 13, 14}), (Offsets{5, 6, 7}));
  EXPECT_EQ(read(places, 0, {10, 11, 12, 13, 14}), (Offsets{3, 4, 5, 6, 7}));
}

TEST(DirectoryPlaces, StayWhenTheDirectoryChanges) {
  DirectoryPlaces places;
  read(places, 0, {10, 11, 12, 13});
  EXPECT_EQ(read(places, 0, {10, 12, 13}), (Offsets{3, 5, 6})) << "one was removed";
  EXPECT_EQ(read(places, 0, {10, 5, 11, 12, 13}), (Offsets{3, 7, 4, 5, 6})) << "one is new";
  EXPECT_EQ(read(places, 0, {10, 5, 11, 12, 13, 14}), (Offsets{3, 7, 4, 5, 6, 8}));
  EXPECT_EQ(read(places, 0, {14, 13, 12, 11}), (Offsets{8, 6, 5, 4})) << "in another order";
  for (std::uint64_t offset = 3; offset <= 8; ++offset) {
    EXPECT_EQ(places.cookie_at(offset), (Offsets{10, 11, 12, 13, 5, 14}[offset - 3]));
  }
}

TEST(DirectoryPlaces, OfAChangingDirectoryDoNotGrowWithoutBound) {
  DirectoryPlaces places;
  read(places, 0, {1, 2});
  for (std::uint64_t cookie = 10; cookie < 2 * DirectoryPlaces::kKept; ++cookie) {
    read(places, 0, {cookie});
  }
  EXPECT_EQ(places.cookie_at(DirectoryPlaces::kKept + 10), std::nullopt);
}

}  // namespace
}  // namespace nfsrdma::cache
