// Which names a listed directory is certain not to have.
#include "cache/dir/listed_names.h"

#include <gtest/gtest.h>

#include <string>

#include "cache/dir/whole_listing.h"

namespace nfsrdma::cache {
namespace {

constexpr std::uint32_t kUser = 1000;
constexpr std::uint64_t kVersion = 7;
constexpr TimePoint kEarly{std::chrono::seconds(1)};
constexpr TimePoint kLate{std::chrono::seconds(2)};

class ListedNamesTest : public ::testing::Test {
 protected:
  std::unique_ptr<ListedNames> make() const { return std::make_unique<ListedNames>(total_, kUser); }
  static client::DirectoryPage page(std::vector<std::string> names, bool eof = true,
                                    std::optional<std::uint64_t> change = kVersion) {
    client::DirectoryPage page;
    for (std::string& name : names) {
      client::Entry& entry = page.entries.emplace_back();
      entry.cookie = ++page.last_cookie;
      entry.name = std::move(name);
    }
    page.eof = eof;
    page.change = change;
    return page;
  }

  std::shared_ptr<ListedTotal> total_ = std::make_shared<ListedTotal>();
};

TEST_F(ListedNamesTest, LackWhatWasNotAdded) {
  auto names = make();
  for (int i = 0; i < 1000; ++i) {
    names->add("name" + std::to_string(i));
    EXPECT_FALSE(names->lacks("name" + std::to_string(i / 2), kUser)) << i;
    EXPECT_TRUE(names->lacks("name" + std::to_string(i + 1), kUser)) << i;
  }
  EXPECT_EQ(total_->names, 1000U);
}

TEST_F(ListedNamesTest, AnotherUserMaySeeMore) {
  auto names = make();
  EXPECT_TRUE(names->lacks("f", kUser));
  EXPECT_FALSE(names->lacks("f", kUser + 1));
  ListedNames none(total_);
  EXPECT_TRUE(none.lacks("f", kUser + 1)) << "a new directory has none";
}

TEST_F(ListedNamesTest, NamesThatServersFindWithoutListingThemAreAskedFor) {
  auto names = make();
  names->add("Makefile");
  EXPECT_FALSE(names->lacks("makeFILE", kUser)) << "where case does not matter";
  EXPECT_FALSE(names->lacks("caf\xc3\xa9", kUser)) << "where there are several forms of a letter";
  EXPECT_FALSE(names->lacks(std::string(200, 'n'), kUser)) << "it may be too long";
  EXPECT_TRUE(names->lacks(std::string(100, 'n'), kUser));
  EXPECT_FALSE(names->lacks(".snapshot", kUser));
  EXPECT_FALSE(names->lacks(".zfs", kUser));
  EXPECT_TRUE(names->lacks(".git", kUser));
}

TEST_F(ListedNamesTest, AreThoseOfOneVersion) {
  auto names = make();
  names->complete(kVersion, kEarly, /*lasting=*/true);
  EXPECT_TRUE(names->shown(kVersion, kLate));
  EXPECT_EQ(names->proven_at(), kLate);
  names->changed_here(nfs4::change_info4{true, kVersion, kVersion + 1});
  EXPECT_TRUE(names->shown(kVersion + 1, kLate));
  EXPECT_FALSE(names->shown(kVersion + 2, kLate)) << "another client has changed them";
}

// RFC 8881 section 3.3.3: without `atomic` a change of others may lie between before and after; a
// clock that ticks slowly may hide one behind our own.
TEST_F(ListedNamesTest, AfterAChangeMadeHereTheVersionProvesNothing) {
  for (const bool atomic : {false, true}) {
    auto names = make();
    names->complete(kVersion, kEarly, /*lasting=*/true);
    names->changed_here(nfs4::change_info4{atomic, kVersion, kVersion + 1});
    EXPECT_TRUE(names->shown(kVersion + 1, kLate));
    EXPECT_EQ(names->proven_at(), kEarly);
  }
}

TEST_F(ListedNamesTest, AVersionThatMayHideAChangeProvesNothing) {
  auto names = make();
  names->complete(kVersion, kEarly, /*lasting=*/false);
  EXPECT_TRUE(names->shown(kVersion, kLate));
  EXPECT_EQ(names->proven_at(), kEarly);
}

/// In which nobody else can have made a name and have this client know of it.
constexpr Duration kMoment = std::chrono::milliseconds(3);
constexpr Duration kShort = std::chrono::milliseconds(2);

bool usable(const ListedNames& names, TimePoint now) {
  return names.remaining(now, kMoment) > Duration::zero();
}

TEST_F(ListedNamesTest, AnAbsenceIsUsedForAMoment) {
  auto names = make();
  names->complete(kVersion, kEarly, /*lasting=*/true);
  EXPECT_TRUE(usable(*names, kEarly + kShort));
  EXPECT_FALSE(usable(*names, kEarly + kMoment));
  EXPECT_TRUE(names->shown(kVersion, kLate));
  EXPECT_TRUE(usable(*names, kLate + kShort));
}

TEST_F(ListedNamesTest, AChangeMadeHereIsASignForOneMoreMoment) {
  for (const bool atomic : {false, true}) {
    auto names = make();
    names->complete(kVersion, kEarly, /*lasting=*/false);
    names->changed_here(nfs4::change_info4{atomic, kVersion, kVersion + 1}, kEarly + kShort);
    EXPECT_TRUE(usable(*names, kEarly + 2 * kShort));
    // Another client's change lies between.
    names->changed_here(nfs4::change_info4{atomic, kVersion + 2, kVersion + 3},
                        kEarly + 2 * kShort);
    names->changed_here(nfs4::change_info4{atomic, kVersion + 3, kVersion + 4},
                        kEarly + 2 * kShort);
    EXPECT_FALSE(usable(*names, kEarly + 3 * kShort));
  }
}

TEST_F(ListedNamesTest, WithoutChangeInfoThereIsNoSign) {
  auto names = make();
  names->complete(kVersion, kEarly, /*lasting=*/false);
  names->changed_here({}, kEarly + kShort);
  names->changed_here(nfs4::change_info4{true, kVersion, kVersion + 1}, kEarly + kShort);
  EXPECT_FALSE(usable(*names, kEarly + kMoment));
}

// A change of others may lie within one made here, or have its version.
TEST_F(ListedNamesTest, ChangesMadeHereAreNoSignForLong) {
  auto names = make();
  names->complete(kVersion, kEarly, /*lasting=*/false);
  TimePoint now = kEarly;
  for (std::uint64_t version = kVersion; now < kEarly + ListedNames::kLongest; ++version) {
    EXPECT_TRUE(usable(*names, now));
    names->changed_here(nfs4::change_info4{true, version, version + 1}, now);
    now += kShort;
  }
  EXPECT_FALSE(usable(*names, now));
}

TEST_F(ListedNamesTest, WhatIsForgottenLacksNothing) {
  auto names = make();
  names->add("f");
  names->forget();
  names->add("g");
  EXPECT_FALSE(names->lacks("missing", kUser));
  EXPECT_EQ(total_->names, 0U);
  EXPECT_EQ(total_->directories, 0U);
  names.reset();
  EXPECT_EQ(total_->directories, 0U);
}

TEST_F(ListedNamesTest, TheirNumberIsCounted) {
  auto names = make();
  names->add("f");
  EXPECT_EQ(total_->directories, 1U);
  EXPECT_EQ(total_->names, 1U);
  names.reset();
  EXPECT_EQ(total_->directories, 0U);
  EXPECT_EQ(total_->names, 0U);
}

TEST_F(ListedNamesTest, AListingOfOnePageIsWhole) {
  WholeListing listing;
  listing.begin(make());
  const auto names = listing.add(0, page({"a", "b"}));
  ASSERT_TRUE(names);
  EXPECT_EQ(listing.change(), kVersion);
  EXPECT_FALSE(names->lacks("a", kUser));
  EXPECT_TRUE(names->lacks("c", kUser));
}

TEST_F(ListedNamesTest, AListingOfSeveralPagesIsWholeInOneVersion) {
  WholeListing listing;
  listing.begin(make());
  EXPECT_FALSE(listing.add(0, page({"a", "b"}, false)));
  const auto names = listing.add(2, page({"c"}));
  ASSERT_TRUE(names);
  EXPECT_FALSE(names->lacks("a", kUser));
  EXPECT_FALSE(names->lacks("c", kUser));

  listing.begin(make());
  EXPECT_FALSE(listing.add(0, page({"a", "b"}, false)));
  EXPECT_FALSE(listing.add(2, page({"c"}, true, kVersion + 1))) << "it was changed meanwhile";
}

TEST_F(ListedNamesTest, AListingThatBeginsElsewhereOrSkipsIsNotWhole) {
  WholeListing listing;
  listing.begin(make());
  EXPECT_FALSE(listing.add(5, page({"c"})));
  listing.begin(make());
  EXPECT_FALSE(listing.add(0, page({"a", "b"}, false)));
  EXPECT_FALSE(listing.add(3, page({"c"})));
  EXPECT_FALSE(listing.add(0, page({"a"}))) << "until it begins again";
}

TEST_F(ListedNamesTest, AServerThatTellsNoVersionHasNoWholeListing) {
  WholeListing listing;
  listing.begin(make());
  EXPECT_FALSE(listing.add(0, page({"a"}, true, std::nullopt)));
}

}  // namespace
}  // namespace nfsrdma::cache
