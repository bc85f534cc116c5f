#include "fuse/ctl/counters.h"

#include <gtest/gtest.h>

#include "fuse/ctl/per_operation.h"

namespace nfsrdma::ctl {
namespace {

TEST(Counters, LinesOfNameAndValue) {
  const auto counters = parse_counters("one 1\nlargest 18446744073709551615\nlast 3");
  EXPECT_EQ(counters.size(), 3u);
  EXPECT_EQ(value_of(counters, "largest"), UINT64_MAX);
  EXPECT_EQ(value_of(counters, "last"), 3u);
  EXPECT_EQ(value_of(counters, "none"), 0u);
}

TEST(Counters, OtherLinesArePassedOver) {
  EXPECT_TRUE(parse_counters("").empty());
  EXPECT_TRUE(
      parse_counters("\n\nalone\nx -1\nx 1 2\nx 18446744073709551616\nx \nx 0x1\n").empty());
}

constexpr std::string_view kSome =
    "nfs_READ_requests 4\nnfs_READ_sends 5\nnfs_READ_delays 2\nnfs_READ_bytes_sent 800\n"
    "nfs_READ_bytes_received 4096\nnfs_READ_errors 3\nnfs_READ_errors_NFS4ERR_IO 2\n"
    "nfs_READ_errors_fabric 1\nnfs_READ_queue_us_mean 7\nnfs_READ_rtt_us_p50 11\n"
    "nfs_READ_rtt_us_p90 12\nnfs_READ_execute_us_p99 13\nnfs_READ_execute_us_max 14\n"
    "nfs_WRITE_requests 0\nnfs_READ_PLUS_requests 1\nother_requests 9\nsends 6\n";

TEST(PerOperation, TakesThoseThatWereUsed) {
  const auto operations = per_operation(parse_counters(kSome));
  ASSERT_EQ(operations.size(), 2u);
  EXPECT_EQ(operations[0].name, "READ_PLUS");
  const PerOperation& read = operations[1];
  EXPECT_EQ(read.name, "READ");
  EXPECT_EQ(read.requests, 4u);
  EXPECT_EQ(read.sends, 5u);
  EXPECT_EQ(read.delays, 2u);
  EXPECT_EQ(read.bytes_sent, 800u);
  EXPECT_EQ(read.bytes_received, 4096u);
  EXPECT_EQ(read.errors, 3u);
  const std::vector<std::pair<std::string, std::uint64_t>> failures{{"NFS4ERR_IO", 2},
                                                                    {"fabric", 1}};
  EXPECT_EQ(read.failures, failures);
  EXPECT_EQ(read.queue.mean, 7u);
  EXPECT_EQ(read.round_trip.p50, 11u);
  EXPECT_EQ(read.round_trip.p90, 12u);
  EXPECT_EQ(read.execute.p99, 13u);
  EXPECT_EQ(read.execute.longest, 14u);
}

TEST(PerOperation, ATableForPeople) {
  const std::string table = operation_table(per_operation(parse_counters(kSome)));
  EXPECT_NE(table.find("\nREAD_PLUS "), std::string::npos) << table;
  EXPECT_NE(table.find("READ: sent again 1 times\n"), std::string::npos) << table;
  EXPECT_NE(table.find("READ: put off by the server 2 times\n"), std::string::npos) << table;
  EXPECT_NE(table.find("READ: NFS4ERR_IO 2 times\n"), std::string::npos) << table;
}

TEST(Rates, OfWhatWasDoneBetween) {
  const auto before = per_operation(parse_counters(
      "nfs_READ_requests 1000000\nnfs_READ_execute_us_sum 900000000\nnfs_READ_bytes_sent 7\n"
      "nfs_OPEN_requests 3\nnfs_OPEN_execute_us_sum 1\n"));
  const auto now = per_operation(parse_counters(
      "nfs_READ_requests 1000004\nnfs_READ_execute_us_sum 900000400\nnfs_READ_rtt_us_sum 200\n"
      "nfs_READ_bytes_sent 2097159\nnfs_READ_errors 1\nnfs_OPEN_requests 3\n"
      "nfs_CLOSE_requests 1\nnfs_CLOSE_execute_us_sum 500\n"));
  const auto done = since(before, now);
  ASSERT_EQ(done.size(), 2u);
  EXPECT_EQ(done[0].name, "CLOSE") << "it took longer in all";
  EXPECT_EQ(done[1].name, "READ");
  EXPECT_EQ(done[1].requests, 4u);
  EXPECT_EQ(done[1].execute.sum, 400u);
  const std::string table = rate_table(done, 2);
  EXPECT_NE(
      table.find("READ                       2.0        1       1.00       0.00         0     "
                 "   50       100\n"),
      std::string::npos)
      << table;
}

TEST(Rates, AnotherMountBeginsAnew) {
  const auto before = per_operation(parse_counters("nfs_READ_requests 9\n"));
  const auto now = per_operation(parse_counters("nfs_READ_requests 2\n"));
  EXPECT_EQ(since(before, now).at(0).requests, 2u);
}

TEST(PerOperation, AsJson) {
  EXPECT_EQ(operations_as_json({}), "[]");
  const std::string json = operations_as_json(per_operation(parse_counters(kSome)));
  EXPECT_TRUE(json.starts_with(R"([{"operation":"READ_PLUS","requests":1,"sends":0,)")) << json;
  EXPECT_NE(json.find(R"("failures":{"NFS4ERR_IO":2,"fabric":1})"), std::string::npos) << json;
  EXPECT_NE(json.find(R"("rtt":{"sum_us":0,"mean_us":0,"p50_us":11,"p90_us":12,)"),
            std::string::npos)
      << json;
  EXPECT_TRUE(json.ends_with(R"("p99_us":13,"max_us":14}}])")) << json;
}

}  // namespace
}  // namespace nfsrdma::ctl
