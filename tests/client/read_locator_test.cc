// Where the data of a READ lies in its reply.
#include "client/compound/read_locator.h"

#include <gtest/gtest.h>

#include "tests/transport/tcp/wire.h"

namespace nfsrdma::client::test {
namespace {

using namespace nfsrdma::test;
using Kind = rpc::PayloadPlace::Kind;

/// Follows the locator as a transport does: never shows it more than it asked for.
rpc::PayloadPlace follow(const Bytes& message) {
  std::size_t shown = kReadLocator.least_offset;
  for (;;) {
    if (shown > message.size()) return {};
    const auto place = kReadLocator.locate(std::span(message).first(shown));
    if (place.kind != Kind::unknown) return place;
    EXPECT_GT(place.bytes, shown);
    shown = place.bytes;
  }
}

TEST(ReadLocator, LeastOffset) { EXPECT_EQ(kReadLocator.least_offset, kReadOffset); }

TEST(ReadLocator, FindsTheData) {
  for (std::size_t verifier : {0U, 1U, 4U, 400U}) {
    for (std::size_t tag : {0U, 1U, 4U, 4096U}) {
      const Bytes data = pattern(77);
      const auto place = follow(read_reply({.data = data, .verifier = verifier, .tag = tag}));
      ASSERT_EQ(place.kind, Kind::found);
      EXPECT_EQ(place.bytes, kReadOffset + xdr::padded(verifier) + xdr::padded(tag));
      EXPECT_EQ(place.length, 77U);
    }
  }
}

TEST(ReadLocator, NoneInFailures) {
  Bytes failed = read_reply({.data = pattern(50)});
  for (std::size_t status : {40U, 84U, 92U}) {
    Bytes changed = failed;
    changed[status + 3] = std::byte{5};
    EXPECT_NE(follow(changed).kind, Kind::found) << status;
  }
}

// No byte of a reply can make it ask for more than a bounded number of bytes, or read behind
// them.
TEST(ReadLocator, EveryByteChanged) {
  const Bytes good = read_reply({.data = pattern(50), .verifier = 8, .tag = 8});
  constexpr std::size_t kMost = kReadOffset + 400 + 4096;
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (int value : {0, 1, 0x7f, 0x80, 0xff}) {
      Bytes changed = good;
      changed[at] = static_cast<std::byte>(value);
      for (std::size_t shown = kReadLocator.least_offset; shown <= changed.size(); ++shown) {
        const Bytes exact(changed.begin(), changed.begin() + static_cast<std::ptrdiff_t>(shown));
        const auto place = kReadLocator.locate(exact);
        ASSERT_LE(place.bytes, place.kind == Kind::found ? shown : kMost);
      }
    }
  }
}

}  // namespace
}  // namespace nfsrdma::client::test
