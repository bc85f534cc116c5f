#include <gtest/gtest.h>

#include "fuse/ctl/metrics.h"
#include "fuse/ctl/text.h"

namespace nfsrdma::ctl {
namespace {

TEST(Text, WhatIsUtf8Stays) {
  for (const char* text : {"", "a", "\xc3\xa4", "\xe2\x82\xac", "\xed\x9f\xbf", "\xf0\x9f\x98\x80",
                           "\xf4\x8f\xbf\xbf"}) {
    EXPECT_EQ(as_utf8(text), text);
  }
}

TEST(Text, WhatIsNotBecomesAReplacement) {
  const std::string sign = "\xef\xbf\xbd";
  EXPECT_EQ(as_utf8("a\xff"
                    "b"),
            "a" + sign + "b");
  EXPECT_EQ(as_utf8("\xc3"), sign) << "cut short";
  EXPECT_EQ(as_utf8("\xc0\x80"), sign + sign) << "longer than needed";
  EXPECT_EQ(as_utf8("\xe0\x80\x80"), sign + sign + sign) << "longer than needed";
  EXPECT_EQ(as_utf8("\xed\xa0\x80"), sign + sign + sign) << "a surrogate";
  EXPECT_EQ(as_utf8("\xf4\x90\x80\x80"), sign + sign + sign + sign) << "beyond U+10FFFF";
}

TEST(Json, StringsAreQuoted) {
  EXPECT_EQ(json_string("a\"b\\c\n\x01"), R"("a\"b\\c\u000a\u0001")");
  EXPECT_EQ(json_string("\xff"), "\"\xef\xbf\xbd\"");
}

const Mount kMount{"/s", {{"mount_point", "/m \"n\"\\\n"}, {"source", "server:/"}}};
constexpr std::string_view kJsonLabels = R"("mount_point":"/m \"n\"\\\u000a","source":"server:/")";
constexpr std::string_view kLabels = R"(mount_point="/m \"n\"\\\n",source="server:/")";

TEST(Metrics, AnEmptyOneEnds) { EXPECT_EQ(open_metrics({}), "# EOF\n"); }

TEST(Metrics, OperationAndStatusAreLabels) {
  const Counters counters{
      {"sends", 3}, {"nfs_READ_rtt_us_p99", 4}, {"nfs_READ_errors_NFS4ERR_IO", 5}, {"nfs_x", 6}};
  const std::string labels(kLabels);
  EXPECT_EQ(open_metrics({{kMount, counters}}), "nfsrdma_nfs_errors_by_status{" + labels +
                                                    ",operation=\"READ\",status=\"NFS4ERR_IO\"} 5\n"
                                                    "nfsrdma_nfs_rtt_us_p99{" +
                                                    labels +
                                                    ",operation=\"READ\"} 4\n"
                                                    "nfsrdma_nfs_x{" +
                                                    labels + "} 6\nnfsrdma_sends{" + labels +
                                                    "} 3\n# EOF\n");
}

// OpenMetrics allows no family to stand twice.
TEST(Metrics, TwoMountsShareAFamily) {
  const Mount other{"/t", {{"mount_point", "/o"}, {"source", "server:/"}}};
  EXPECT_EQ(open_metrics({{kMount, {{"sends", 1}}}, {other, {{"sends", 2}}}}),
            "nfsrdma_sends{" + std::string(kLabels) +
                "} 1\nnfsrdma_sends{mount_point=\"/o\",source=\"server:/\"} 2\n# EOF\n");
}

// umount -l, and the same mounted again: Prometheus refuses a page with a series that stands twice.
TEST(Metrics, OfTwoMountsInOnePlaceTheYoungerOneIsThere) {
  const auto mount = [](const char* age) {
    return Mount{"/s", {{"mount_point", "/m"}, {"source", "server:/"}, {"seconds", age}}};
  };
  const Counters older{{"sends", 1}, {"of_the_older", 1}};
  const std::string younger = "nfsrdma_sends{mount_point=\"/m\",source=\"server:/\"} 2\n# EOF\n";
  EXPECT_EQ(open_metrics({{mount("70"), older}, {mount("9"), {{"sends", 2}}}}), younger);
  EXPECT_EQ(open_metrics({{mount("9"), {{"sends", 2}}}, {mount("70"), older}}), younger);
  EXPECT_EQ(open_metrics({{mount("9"), {{"sends", 2}}}, {mount("9"), older}}), younger);
  EXPECT_EQ(metrics_as_json({{mount("70"), older}, {mount("9"), {}}}), "[]");
}

// A hostile daemon may name its counters as it likes.
TEST(Metrics, NamesThatOpenMetricsDoesNotHaveAreLeftOut) {
  EXPECT_EQ(open_metrics({{kMount, {{"a{b}", 1}, {"nfs_READ_errors_a\"b", 2}, {"a\xff", 3}}}}),
            "# EOF\n");
}

TEST(Metrics, JsonHasTheSameSamples) {
  EXPECT_EQ(
      metrics_as_json({{kMount, {{"a{b}", 1}, {"nfs_READ_errors_NFS4ERR_IO", 2}, {"sends", 3}}}}),
      R"([{"name":"nfsrdma_nfs_errors_by_status",)" + std::string(kJsonLabels) +
          R"(,"operation":"READ","status":"NFS4ERR_IO","value":2},{"name":"nfsrdma_sends",)" +
          std::string(kJsonLabels) + R"(,"value":3}])");
}

}  // namespace
}  // namespace nfsrdma::ctl
