// The text of /proc/self/mountstats: fields in the places where the kernel has them.
#include "fuse/ctl/mountstats.h"

#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "fuse/channel/opcode.h"

namespace nfsrdma::ctl {
namespace {

Mount mount_over(const char* connection) {
  return {"/s",
          {{"mount_point", "/m n"},
           {"source", "server:/ex"},
           {"connection", connection},
           {"seconds", "99"}}};
}

std::vector<std::string> words_of(const std::string& text, const std::string& first) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream in(line);
    std::vector<std::string> words;
    for (std::string word; in >> word;) words.push_back(word);
    if (!words.empty() && words.front() == first) return words;
  }
  return {};
}

TEST(Mountstats, NamesTheMount) {
  const std::string text = mountstats(mount_over("rdma via iwarp to ::1"), {});
  EXPECT_TRUE(
      text.starts_with("device server:/ex mounted on /m\\040n with fstype nfs4 statvers=1.1\n"))
      << text;
  EXPECT_EQ(words_of(text, "age:").at(1), "99");
  EXPECT_NE(text.find("proto=rdma"), std::string::npos);
}

TEST(Mountstats, CountsWhatTheKernelAsked) {
  const Counters counters{{"fuse_requests_getattr", 1},   {"fuse_requests_open", 2},
                          {"fuse_requests_create", 3},    {"fuse_requests_write", 4},
                          {"fuse_requests_setlk", 5},     {"fuse_requests_release", 6},
                          {"nfs_READ_bytes_received", 7}, {"nfs_WRITE_bytes_sent", 8}};
  const std::string text = mountstats(mount_over("tcp to ::1"), counters);
  const auto events = words_of(text, "events:");
  ASSERT_EQ(events.size(), 28u);
  EXPECT_EQ(events[1], "1");
  EXPECT_EQ(events[5], "5");
  EXPECT_EQ(events[12], "4");
  EXPECT_EQ(events[17], "5");
  EXPECT_EQ(events[18], "6");
  const std::vector<std::string> bytes{"bytes:", "0", "0", "0", "0", "7", "8", "0", "0"};
  EXPECT_EQ(words_of(text, "bytes:"), bytes);
}

TEST(Mountstats, TransportsHaveTheFieldsOfTheKernels) {
  const Counters counters{
      {"connections", 1}, {"sends", 2}, {"receives", 3}, {"replies", 4}, {"bad_xids", 5}};
  const auto rdma = words_of(mountstats(mount_over("rdma via iwarp to ::1"), counters), "xprt:");
  ASSERT_EQ(rdma.size(), 29u);
  const std::vector<std::string> first_rdma{"xprt:", "rdma", "0", "0", "1",
                                            "0",     "0",    "2", "3", "5"};
  EXPECT_TRUE(std::equal(first_rdma.begin(), first_rdma.end(), rdma.begin()));
  const auto tcp = words_of(mountstats(mount_over("tcp to ::1"), counters), "xprt:");
  ASSERT_EQ(tcp.size(), 15u);
  EXPECT_EQ(tcp[1], "tcp");
  EXPECT_EQ(tcp[8], "4");
}

TEST(Mountstats, AnOperationsTimesAreSumsInMilliseconds) {
  const Counters counters{{"nfs_READ_requests", 3},          {"nfs_READ_sends", 4},
                          {"nfs_READ_bytes_sent", 5},        {"nfs_READ_bytes_received", 6},
                          {"nfs_READ_queue_us_sum", 2999},   {"nfs_READ_rtt_us_sum", 3000},
                          {"nfs_READ_execute_us_sum", 6000}, {"nfs_READ_errors", 1}};
  const std::string text = mountstats(mount_over("tcp to ::1"), counters);
  const std::vector<std::string> read{"READ:", "3", "4", "0", "5", "6", "2", "3", "6", "1"};
  EXPECT_EQ(words_of(text, "READ:"), read);
  const std::vector<std::string> none{"WRITE:", "0", "0", "0", "0", "0", "0", "0", "0", "0"};
  EXPECT_EQ(words_of(text, "WRITE:"), none) << "mountstats looks for it by name";
}

// A counter that is renamed would leave a 0 for ever.
TEST(Mountstats, EventsAreRequestsThatThereAre) {
  std::set<std::string, std::less<>> names;
  for (std::uint32_t opcode = 1; opcode < fuse::kOpcodes; ++opcode) {
    names.insert(std::string(fuse::opcode_name(opcode)));
  }
  constexpr std::string_view kPrefix = "fuse_requests_";
  for (const std::string_view event : mountstats_events()) {
    if (event.empty()) continue;
    ASSERT_TRUE(event.starts_with(kPrefix)) << event;
    EXPECT_TRUE(names.contains(event.substr(kPrefix.size()))) << event;
  }
}

TEST(Mountstats, JsonHasTheSameNumbers) {
  const Counters counters{{"fuse_requests_getattr", 1},
                          {"nfs_WRITE_requests", 2},
                          {"nfs_WRITE_bytes_sent", 8},
                          {"nfs_WRITE_rtt_us_sum", 5000}};
  EXPECT_EQ(mountstats_as_json(mount_over("tcp to ::1"), counters),
            R"("age":99,"events":[1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0],)"
            R"("bytes":[0,0,0,0,0,8,0,0],)"
            R"("operations":{"WRITE":[2,0,0,8,0,0,5,0,0],"READ":[0,0,0,0,0,0,0,0,0]})");
}

// A daemon of another user may say anything.
TEST(Mountstats, AnAgeIsANumber) {
  const Mount mount{"/s", {{"seconds", "1\n\tfake: 2"}}};
  EXPECT_EQ(words_of(mountstats(mount, {}), "age:"), (std::vector<std::string>{"age:", "0"}));
}

}  // namespace
}  // namespace nfsrdma::ctl
