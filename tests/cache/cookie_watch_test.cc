// Cookies that go round are noticed (RFC 8881 section 18.23), with memory of one size.
#include "cache/dir/cookie_watch.h"

#include <gtest/gtest.h>

namespace nfsrdma::cache {
namespace {

std::vector<client::Entry> entries(std::initializer_list<std::uint64_t> cookies) {
  std::vector<client::Entry> made;
  for (const std::uint64_t cookie : cookies) {
    client::Entry entry;
    entry.cookie = cookie;
    made.push_back(std::move(entry));
  }
  return made;
}

/// Pages read until the watch stops; `next` gives the end of the page behind a cookie.
template <class Next>
int pages_until_stopped(Next next, int most) {
  CookieWatch watch;
  std::uint64_t cookie = 0;
  for (int pages = 1; pages <= most; ++pages) {
    const std::uint64_t end = next(cookie);
    if (!watch.follow(cookie, entries({end}))) return pages;
    cookie = end;
  }
  return 0;
}

TEST(CookieWatch, ADirectoryThatGoesOnIsRead) {
  EXPECT_EQ(pages_until_stopped([](std::uint64_t c) { return c + 10; }, 100000), 0);
  std::uint64_t state = 7;
  const auto jump = [&](std::uint64_t) { return state = state * 6364136223846793005u + 1442695; };
  EXPECT_EQ(pages_until_stopped(jump, 100000), 0) << "in no order";
}

TEST(CookieWatch, EqualCookiesInAPage) {
  CookieWatch watch;
  EXPECT_FALSE(watch.follow(0, entries({5, 5})));
  EXPECT_FALSE(watch.follow(0, entries({5, 9, 7, 5})));
  EXPECT_TRUE(watch.follow(0, entries({5, 9, 7})));
}

TEST(CookieWatch, APageThatBringsItsOwnCookieAgain) {
  CookieWatch watch;
  EXPECT_TRUE(watch.follow(0, entries({5, 6, 7})));
  EXPECT_FALSE(watch.follow(7, entries({5, 6, 7})));
  EXPECT_FALSE(watch.follow(7, entries({5, 6, 7}))) << "asked again, it stays wrong";
  EXPECT_TRUE(watch.follow(7, entries({8, 9})));
}

TEST(CookieWatch, CirclesOfAnyLengthAreNoticedSoon) {
  for (const std::uint64_t length : {1u, 2u, 3u, 5u, 17u, 1000u}) {
    for (const std::uint64_t before : {0u, 1u, 6u, 500u}) {
      const auto next = [=](std::uint64_t cookie) {
        const std::uint64_t place = cookie == 0 ? 0 : cookie - 100 + 1;
        return 100 + (place < before + length ? place : before);
      };
      const int pages = pages_until_stopped(next, 100000);
      EXPECT_GT(pages, 0) << length << " after " << before;
      EXPECT_LE(pages, 3 * static_cast<int>(before + length) + 3) << length << " after " << before;
    }
  }
}

// seekdir(3): the same place again and again is no circle of the server's.
TEST(CookieWatch, GoingBackIsAllowed) {
  CookieWatch watch;
  for (int round = 0; round < 100; ++round) {
    EXPECT_TRUE(watch.follow(0, entries({10})));
    EXPECT_TRUE(watch.follow(10, entries({20})));
    EXPECT_TRUE(watch.follow(20, entries({30})));
    EXPECT_TRUE(watch.follow(10, entries({20})));
    EXPECT_TRUE(watch.follow(20, entries({30})));
    watch.restart();
  }
}

// The numbers of "." and ".." lead to the beginning.
TEST(CookieWatch, CookiesOfTheDots) {
  CookieWatch watch;
  EXPECT_FALSE(watch.follow(0, entries({10, 1})));
  EXPECT_FALSE(watch.follow(0, entries({10, 2})));
  EXPECT_FALSE(watch.follow(0, entries({10, 0})));
  EXPECT_FALSE(watch.follow(0, entries({0})));
  EXPECT_TRUE(watch.follow(0, entries({1, 2, 3}))) << "a server that counts its entries";
  EXPECT_FALSE(watch.follow(3, entries({4, 2})));
  EXPECT_TRUE(watch.follow(1, entries({2, 3}))) << "the second entry of such a server";
}

TEST(CookieWatch, TheEndHasNoCookies) {
  CookieWatch watch;
  EXPECT_TRUE(watch.follow(0, {}));
  EXPECT_TRUE(watch.follow(0, entries({5})));
  EXPECT_TRUE(watch.follow(5, {}));
}

}  // namespace
}  // namespace nfsrdma::cache
