// P21: the network is away for half a lease, one, and two; the lease is renewed in time, or what it
// held is got back.
#include "client/files/lock.h"
#include "client/files/open_files.h"
#include "tests/client/served_mount.h"

namespace nfsrdma::client::test {
namespace {

using namespace nfs4;
using std::chrono::seconds;

class P21_LeaseRenewal : public ServedMount, public ::testing::WithParamInterface<std::uint32_t> {
 protected:
  P21_LeaseRenewal() : ServedMount({}, GetParam()) {}

  void SetUp() override {
    ServedMount::SetUp();
    ASSERT_EQ(mount().lease_time(), lease_);
    server_.write_file("file", "content");
    file_ = open_file("file", OPEN4_SHARE_ACCESS_BOTH);
  }
  void TearDown() override {
    server_.black_hole = false;
    file_.reset();
    reactor_.settle();
    ServedMount::TearDown();
  }
  /// Attempts to connect are refused, or get no answer.
  void lose_network(Duration length, bool silently = false) {
    (silently ? server_.black_hole : server_.unreachable) = true;
    server_.disconnect();
    reactor_.advance(length);
    server_.unreachable = server_.black_hole = false;
  }
  /// The lease was in use the moment before: it runs from here.
  void use() { ASSERT_TRUE(read_text(*file_)); }

  const Duration lease_ = seconds(GetParam());
  /// With the network back, the time until the mount is.
  const Duration longest_pause_ = lease_ / 3 + seconds(1);
  std::optional<Opened> file_;
};

INSTANTIATE_TEST_SUITE_P(Leases, P21_LeaseRenewal, ::testing::Values(10, 20, 90));

// Half a lease without a request of a program: the server still knows everything afterwards.
TEST_P(P21_LeaseRenewal, HalfALease) {
  const auto exchanges = server_.successes_of(OP_EXCHANGE_ID);
  use();
  lose_network(lease_ / 2);
  reactor_.advance(longest_pause_);
  EXPECT_GE(counter("reconnects"), 1U);
  auto text = read_text(*file_);
  ASSERT_TRUE(text) << text.error().message();
  reactor_.advance(10 * lease_);
  EXPECT_TRUE(read_text(*file_));
  EXPECT_EQ(server_.successes_of(OP_EXCHANGE_ID), exchanges);
  EXPECT_EQ(counter("session_losses"), 0U);
}

// Half a lease, at any time of its life: the connection that is back renews it, asked for or not.
TEST_P(P21_LeaseRenewal, IdleMountsRenewAfterTheOutage) {
  for (Duration begin{0}; begin < lease_ / 2; begin += lease_ / 18) {
    use();
    reactor_.advance(begin);
    lose_network(lease_ / 6);
    reactor_.advance(lease_ * 2 / 3 - begin);
    EXPECT_EQ(counter("session_losses"), 0U) << begin.count();
    EXPECT_TRUE(read_text(*file_));
  }
  EXPECT_EQ(counter("recovery_client_ids"), 1U);
}

// Whenever the outage began, and however long it was: if it ends two seconds before the lease, the
// lease is renewed.
TEST_P(P21_LeaseRenewal, NothingIsLostIfTheNetworkIsBackInTime) {
  const auto exchanges = server_.successes_of(OP_EXCHANGE_ID);
  for (Duration begin{0}; begin < lease_ - seconds(2); begin += seconds(1)) {
    for (Duration end = begin + seconds(1); end <= lease_ - seconds(2); end += lease_ / 10) {
      use();
      reactor_.advance(begin);
      lose_network(end - begin);
      reactor_.advance(lease_);
      EXPECT_EQ(counter("session_losses"), 0U) << begin.count() << " to " << end.count();
      EXPECT_EQ(server_.successes_of(OP_EXCHANGE_ID), exchanges);
      if (HasFailure()) return;
    }
  }
}

// The same with a network that is silent: an attempt that was begun in time to be lost does not
// outlast the lease.
TEST_P(P21_LeaseRenewal, AttemptsEndInTimeToo) {
  const auto exchanges = server_.successes_of(OP_EXCHANGE_ID);
  for (Duration end = seconds(1); end <= lease_ / 2 - seconds(1); end += seconds(1)) {
    use();
    lose_network(end, /*silently=*/true);
    reactor_.advance(lease_);
    EXPECT_EQ(counter("session_losses"), 0U) << end.count();
    EXPECT_EQ(server_.successes_of(OP_EXCHANGE_ID), exchanges);
    if (HasFailure()) return;
  }
}

// One lease, and two: the server has forgotten; the file goes on all the same, soon after the
// network is back.
TEST_P(P21_LeaseRenewal, OneLeaseAndTwo) {
  for (const int leases : {1, 2}) {
    use();
    lose_network(leases * lease_ + seconds(1));
    const TimePoint back = reactor_.now();
    auto text = read_text(*file_);
    ASSERT_TRUE(text) << text.error().message();
    EXPECT_EQ(*text, "content");
    EXPECT_LE(reactor_.now() - back, longest_pause_);
    EXPECT_EQ(counter("opens_lost"), 0U);
    EXPECT_EQ(server_.successes_of(OP_RECLAIM_COMPLETE),
              static_cast<int>(counter("recovery_client_ids")));
  }
}

}  // namespace
}  // namespace nfsrdma::client::test
