// P21: the network is away for half a lease, one, and two; the lease is renewed in time, or what it
// held is got back.
#include "client/ops/lock.h"
#include "client/state/open_table.h"
#include "tests/client/served_mount.h"

namespace nfsrdma::client::test {
namespace {

using namespace nfs4;
using std::chrono::seconds;

/// The longest pause between two attempts to connect, with some room.
constexpr seconds kLongestPause{31};

class P21_LeaseRenewal : public ServedMount {
 protected:
  void SetUp() override {
    ServedMount::SetUp();
    server_.write_file("file", "content");
    file_ = open_file("file", OPEN4_SHARE_ACCESS_BOTH);
  }
  void TearDown() override {
    file_.reset();
    reactor_.settle();
    ServedMount::TearDown();
  }
  void lose_network(Duration length) {
    server_.unreachable = true;
    server_.disconnect();
    reactor_.advance(length);
    server_.unreachable = false;
  }
  /// The lease was in use the moment before: it runs from here.
  void use() { ASSERT_TRUE(read_text(*file_)); }

  std::optional<Opened> file_;
};

// Half a lease, with nobody asking for anything: the server still knows everything afterwards.
TEST_F(P21_LeaseRenewal, HalfALease) {
  const auto exchanges = server_.successes_of(OP_EXCHANGE_ID);
  use();
  lose_network(kLease / 2);
  reactor_.advance(kLongestPause);
  EXPECT_GE(counter("reconnects"), 1U);
  auto text = read_text(*file_);
  ASSERT_TRUE(text) << text.error().message();
  reactor_.advance(10 * kLease);
  EXPECT_TRUE(read_text(*file_));
  EXPECT_EQ(server_.successes_of(OP_EXCHANGE_ID), exchanges);
  EXPECT_EQ(counter("session_losses"), 0U);
}

// Half a lease, at any time of its life: the connection that is back renews it, asked for or not.
TEST_F(P21_LeaseRenewal, IdleMountsRenewAfterTheOutage) {
  for (int begin = 0; begin < 45; begin += 5) {
    use();
    reactor_.advance(seconds(begin));
    lose_network(seconds(15));
    reactor_.advance(kLease * 2 / 3 - seconds(begin));
    EXPECT_EQ(counter("session_losses"), 0U) << begin;
    EXPECT_TRUE(read_text(*file_));
  }
  EXPECT_EQ(counter("recovery_client_ids"), 1U);
}

// One lease, and two: the server has forgotten; the file goes on all the same, soon after the
// network is back.
TEST_F(P21_LeaseRenewal, OneLeaseAndTwo) {
  for (const int leases : {1, 2}) {
    use();
    lose_network(leases * kLease + seconds(1));
    const TimePoint back = reactor_.now();
    auto text = read_text(*file_);
    ASSERT_TRUE(text) << text.error().message();
    EXPECT_EQ(*text, "content");
    EXPECT_LE(reactor_.now() - back, kLongestPause);
    EXPECT_EQ(counter("opens_lost"), 0U);
    EXPECT_EQ(server_.successes_of(OP_RECLAIM_COMPLETE),
              static_cast<int>(counter("recovery_client_ids")));
  }
}

}  // namespace
}  // namespace nfsrdma::client::test
