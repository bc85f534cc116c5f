// Which names the kernel has to look up again.
#include "fuse/kernel/advertised_names.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace nfsrdma::fuse {
namespace {

using As = AdvertisedNames::As;
using Names = std::vector<std::string>;

Names sorted(Names names) {
  std::ranges::sort(names);
  return names;
}

TEST(AdvertisedNamesTest, AnotherDirectoryMakesAllOfThemDoubtfulOnce) {
  AdvertisedNames names;
  names.advertise("a", As::there);
  names.advertise("b", As::missing);
  EXPECT_EQ(sorted(names.doubt_all()), (Names{"a", "b"}));
  EXPECT_TRUE(names.doubt_all().empty());
}

TEST(AdvertisedNamesTest, AListingTellsWhatIsThereAndWhatIsNot) {
  AdvertisedNames names;
  names.advertise("removed", As::there);
  names.advertise("kept", As::there);
  names.advertise("made", As::missing);
  names.advertise("missing", As::missing);
  names.listing_begins();
  EXPECT_FALSE(names.listed("kept"));
  EXPECT_FALSE(names.listed("unknown"));
  EXPECT_TRUE(names.listed("made"));
  EXPECT_EQ(names.listing_ends(), Names{"removed"});
  EXPECT_EQ(sorted(names.doubt_all()), (Names{"kept", "missing"}));
}

TEST(AdvertisedNamesTest, WhatIsToldDuringAListingNeedNotBeInIt) {
  AdvertisedNames names;
  names.listing_begins();
  names.advertise("new", As::there);
  EXPECT_TRUE(names.listing_ends().empty());
}

TEST(AdvertisedNamesTest, ANameLeadsToWhatWasToldLast) {
  AdvertisedNames names;
  EXPECT_FALSE(names.node("a")) << "nothing was told";
  names.advertise("a", As::there, 3);
  names.advertise("missing", As::missing);
  EXPECT_EQ(names.node("a"), 3U);
  EXPECT_EQ(names.node("missing"), 0U);
  names.advertise("a", As::there, 4);
  EXPECT_EQ(names.node("a"), 4U);
  names.forget("a");
  EXPECT_FALSE(names.node("a"));
}

TEST(AdvertisedNamesTest, WhatIsNotSureIsStillBelieved) {
  AdvertisedNames names;
  names.advertise("a", As::there, 3);
  names.advertise("b", As::missing);
  names.unsure("a");
  names.unsure("b");
  names.unsure("unknown");
  EXPECT_FALSE(names.node("a"));
  EXPECT_FALSE(names.node("b"));
  EXPECT_EQ(sorted(names.doubt_all()), (Names{"a", "b"}));
}

TEST(AdvertisedNamesTest, ATurnOfMindIsTakenInAtTheBound) {
  AdvertisedNames names;
  for (std::size_t i = 0; i < AdvertisedNames::kMost; ++i)
    names.advertise(std::to_string(i), As::there, 3);
  names.advertise("0", As::there, 4);
  EXPECT_EQ(names.node("0"), 4U);
}

TEST(AdvertisedNamesTest, ThereIsABound) {
  AdvertisedNames names;
  for (std::size_t i = 0; i < AdvertisedNames::kMost + 10; ++i)
    names.advertise(std::to_string(i), As::there);
  EXPECT_EQ(names.doubt_all().size(), AdvertisedNames::kMost);
}

}  // namespace
}  // namespace nfsrdma::fuse
