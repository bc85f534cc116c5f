#include "fuse/options/source.h"

#include <gtest/gtest.h>

namespace nfsrdma::fuse {
namespace {

TEST(Source, HostAndPath) {
  const auto source = parse_source("server.example:/export/dir");
  ASSERT_TRUE(source.has_value());
  EXPECT_EQ(source->host, "server.example");
  EXPECT_EQ(source->path, "/export/dir");
  EXPECT_EQ(source->text, "server.example:/export/dir");
}

TEST(Source, Ipv6AddressInBrackets) {
  const auto source = parse_source("[fe80::1%eth0]:/");
  ASSERT_TRUE(source.has_value());
  EXPECT_EQ(source->host, "fe80::1%eth0");
  EXPECT_EQ(source->path, "/");
}

TEST(Source, APathMayHaveColons) {
  const auto source = parse_source("server:/a:b");
  ASSERT_TRUE(source.has_value());
  EXPECT_EQ(source->path, "/a:b");
}

struct Wrong {
  const char* text;
  const char* reason;
};

class WrongSource : public testing::TestWithParam<Wrong> {};

TEST_P(WrongSource, IsRefusedWithAReason) {
  const auto source = parse_source(GetParam().text);
  ASSERT_FALSE(source.has_value());
  EXPECT_NE(source.error().detail.find(GetParam().reason), std::string::npos)
      << source.error().detail;
}

INSTANTIATE_TEST_SUITE_P(
    All, WrongSource,
    testing::Values(Wrong{"server", "server:/export"}, Wrong{"", "server:/export"},
                    Wrong{":/export", "no server name"}, Wrong{"[]:/export", "no server name"},
                    Wrong{"[::1/export", "server:/export"}, Wrong{"[::1]/export", "server:/export"},
                    Wrong{"server:export", "absolute"}, Wrong{"::1:/export", "no server name"},
                    Wrong{"fe80::1:/export", "brackets"}, Wrong{"a,b:/export", "one server"},
                    Wrong{"nfs://server/export", "not a URL"}, Wrong{"dir/file:/x", "slash"}));

}  // namespace
}  // namespace nfsrdma::fuse
