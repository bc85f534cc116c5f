// What a server can have logged, as often as it likes, is a bounded number of lines.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/transport/rdma/harness.h"
#include "transport/base/log.h"
#include "transport/base/log_limit.h"

namespace nfsrdma::test {
namespace {

using namespace std::chrono_literals;

constexpr int kLoggedMessages = 2000;

class LogLines : public testing::Test {
 protected:
  void SetUp() override {
    harness_.connect();
    log::set_level(log::Level::info);
    testing::internal::CaptureStderr();
  }
  void TearDown() override { log::set_level(log::Level::off); }
  /// Lines that contain `words`.
  static std::ptrdiff_t lines_with(const std::string& words) {
    const std::string written = testing::internal::GetCapturedStderr();
    std::ptrdiff_t count = 0;
    for (auto at = written.find(words); at != std::string::npos; at = written.find(words, at + 1)) {
      ++count;
    }
    return count;
  }

  Harness harness_;
};

TEST_F(LogLines, CallbacksThatCannotBeDecoded) {
  for (std::uint32_t i = 0; i < kLoggedMessages; ++i) {
    rdma::Header header;
    header.rdma_xid = i;
    header.rdma_credit = 1;
    harness_.deliver(encode(header, words({i, 0, 2, 0x40000000})));
    harness_.peer().forget_sent();
  }
  EXPECT_EQ(harness_.observer.closings, 0);
  EXPECT_EQ(lines_with("a callback cannot be decoded"), log::Limit::kLines);
}

TEST_F(LogLines, RepliesWithoutACredit) {
  for (int i = 0; i < kLoggedMessages; ++i) {
    TestCall call(harness_, 5);
    call.submit();
    harness_.answer(0, 0);
    ASSERT_TRUE(call.ok());
    harness_.peer().forget_sent();
  }
  EXPECT_EQ(counter(*harness_.channel, "zero_grants"), std::uint64_t{kLoggedMessages});
  EXPECT_EQ(lines_with("granted no credit"), log::Limit::kLines);
}

// V1-4.6.2-2: it is dropped, and whoever looks for why the call waits finds it in the log.
TEST_F(LogLines, DoneWithTheXidOfAnOpenCall) {
  TestCall call(harness_, 5);
  call.submit();
  for (int i = 0; i < kLoggedMessages; ++i) {
    harness_.deliver(words({5, 1, 32, rdma::RDMA_DONE}));
    harness_.deliver(words({77, 1, 32, rdma::RDMA_DONE}));
  }
  harness_.answer(0);
  EXPECT_TRUE(call.ok());
  EXPECT_EQ(lines_with("RDMA_DONE with the XID 0x5 of an open call"), log::Limit::kLines);
}

// Connections come and go, the bound stays.
TEST_F(LogLines, ConnectionsThatEndWithAMalformedReply) {
  for (int i = 0; i < 20; ++i) {
    TestCall call(harness_, 5);
    call.submit();
    harness_.deliver(words({5, 1, 32, 99}));
    ASSERT_TRUE(call.done());
    harness_.drop_channel();
    harness_.observer.downs = 0;
    harness_.connect();
  }
  const std::string written = testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::count(written.begin(), written.end(), '\n'), 3 * log::Limit::kLines);
}

}  // namespace
}  // namespace nfsrdma::test
