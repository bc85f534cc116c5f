// The place in an open directory: page by page, by cookie (RFC 8881 section 18.23).
#include "cache/dir/directory_stream.h"

#include <gtest/gtest.h>

namespace nfsrdma::cache {
namespace {

client::DirectoryPage page(std::initializer_list<std::uint64_t> cookies, bool eof) {
  client::DirectoryPage made;
  for (const std::uint64_t cookie : cookies) {
    client::Entry entry;
    entry.cookie = cookie;
    entry.name = "n" + std::to_string(cookie);
    made.entries.push_back(std::move(entry));
  }
  made.verifier = {std::byte{9}};
  made.eof = eof;
  return made;
}

std::vector<std::uint64_t> cookies(std::span<const client::Entry> entries) {
  std::vector<std::uint64_t> result;
  for (const auto& entry : entries) result.push_back(entry.cookie);
  return result;
}

DirectoryStream::Asked asked(std::uint64_t cookie) {
  DirectoryStream::Asked from;
  from.cookie = cookie;
  return from;
}

using Cookies = std::vector<std::uint64_t>;

TEST(DirectoryStream, HasNothingAtFirst) {
  DirectoryStream stream;
  EXPECT_TRUE(stream.following(0).empty());
  EXPECT_FALSE(stream.ends_after(0));
  EXPECT_EQ(stream.verifier(), nfs4::verifier4{});
}

TEST(DirectoryStream, ServesAPageInParts) {
  DirectoryStream stream;
  stream.replace(asked(0), page({10, 7, 99}, false));
  EXPECT_EQ(cookies(stream.following(0)), (Cookies{10, 7, 99}));
  EXPECT_EQ(cookies(stream.following(10)), (Cookies{7, 99}));
  EXPECT_EQ(cookies(stream.following(7)), (Cookies{99}));
  EXPECT_TRUE(stream.following(99).empty());
  EXPECT_FALSE(stream.ends_after(99));
}

TEST(DirectoryStream, GoesBackWithinThePage) {
  DirectoryStream stream;
  stream.replace(asked(0), page({10, 7, 99}, true));
  EXPECT_TRUE(stream.following(99).empty());
  EXPECT_EQ(cookies(stream.following(10)), (Cookies{7, 99}));
  EXPECT_EQ(cookies(stream.following(0)), (Cookies{10, 7, 99}));
}

TEST(DirectoryStream, AnUnknownPlaceHasToBeFetched) {
  DirectoryStream stream;
  stream.replace(asked(99), page({100, 101}, true));
  EXPECT_TRUE(stream.following(10).empty());
  EXPECT_FALSE(stream.ends_after(10));
  EXPECT_EQ(cookies(stream.following(99)), (Cookies{100, 101}));
}

bool any(const DirectoryStream::Asked&) { return true; }

TEST(DirectoryStream, GoesBackToAPageThatItHad) {
  DirectoryStream stream;
  stream.replace(asked(0), page({10, 11}, false));
  stream.replace(asked(11), page({12, 13}, false));
  stream.replace(asked(13), page({14}, true));
  EXPECT_FALSE(stream.turn_back(99, any));
  ASSERT_TRUE(stream.turn_back(10, any));
  EXPECT_EQ(cookies(stream.following(10)), (Cookies{11}));
  EXPECT_TRUE(stream.goes_on_at(11));
  ASSERT_TRUE(stream.turn_back(11, any)) << "the page after that one";
  EXPECT_EQ(cookies(stream.following(11)), (Cookies{12, 13}));
  ASSERT_TRUE(stream.turn_back(14, any));
  EXPECT_TRUE(stream.ends_after(14));
  EXPECT_FALSE(stream.turn_back(12, [](const auto&) { return false; }));
  stream.rewind();
  EXPECT_FALSE(stream.turn_back(12, any)) << "rewinddir(3) shows what is there now";
}

TEST(DirectoryStream, KeepsFewPages) {
  DirectoryStream stream;
  for (std::uint64_t from = 0; from < 10; ++from)
    stream.replace(asked(from), page({from + 1}, false));
  EXPECT_FALSE(stream.turn_back(3, any));
  EXPECT_TRUE(stream.keeps(6));
  EXPECT_TRUE(stream.turn_back(6, any));
}

TEST(DirectoryStream, KnowsTheEnd) {
  DirectoryStream stream;
  stream.replace(asked(0), page({10, 7}, true));
  EXPECT_FALSE(stream.ends_after(10));
  EXPECT_TRUE(stream.ends_after(7));
  stream.replace(asked(7), page({}, true));
  EXPECT_TRUE(stream.ends_after(7));
}

TEST(DirectoryStream, KeepsTheVerifierUntilItIsRewound) {
  DirectoryStream stream;
  stream.replace({.cookie = 0, .issue = {}, .epoch = 3}, page({10}, false));
  EXPECT_EQ(stream.verifier(), nfs4::verifier4{std::byte{9}});
  EXPECT_EQ(stream.asked().epoch, 3u);
  stream.rewind();
  EXPECT_EQ(stream.verifier(), nfs4::verifier4{});
  EXPECT_TRUE(stream.following(0).empty());
}

TEST(DirectoryStream, APageThatLeadsBackIsNotTaken) {
  DirectoryStream stream;
  EXPECT_TRUE(stream.replace(asked(0), page({10, 11}, false)));
  EXPECT_FALSE(stream.replace(asked(11), page({10, 11}, false)));
  EXPECT_EQ(cookies(stream.following(0)), (Cookies{10, 11})) << "the page before stays";
  EXPECT_TRUE(stream.following(11).empty());
  stream.rewind();
  EXPECT_TRUE(stream.replace(asked(0), page({10, 11}, false)));
}

TEST(DirectoryStream, CookiesMayUseAll64Bits) {
  DirectoryStream stream;
  stream.replace(asked(0), page({UINT64_MAX - 1, 3}, true));
  EXPECT_EQ(cookies(stream.following(UINT64_MAX - 1)), (Cookies{3}));
}

}  // namespace
}  // namespace nfsrdma::cache
