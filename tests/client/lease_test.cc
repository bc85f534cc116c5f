// What keeps a session alive and what its answers tell: the lease, its renewal and the status
// flags, against a fake server in virtual time.
#include <gtest/gtest.h>

#include "client/requests/getattr.h"
#include "client/session/session.h"
#include "tests/client/fake_mount.h"
#include "transport/base/log_limit.h"

namespace nfsrdma::client::test {
namespace {

using namespace nfs4;
using std::chrono::milliseconds;
using std::chrono::seconds;

class LeaseTest : public FakeMount {};

TEST_F(LeaseTest, StatusFlagsAreNoticedOnceWhenTheyChange) {
  start();
  server_.status_flags = SEQ4_STATUS_CB_PATH_DOWN;
  ASSERT_TRUE(run(getattr(mount(), {}, handle(1))));
  ASSERT_TRUE(run(getattr(mount(), {}, handle(1))));
  EXPECT_EQ(counter("session_status_flag_changes"), 1U);
}

// A server that changes them with every answer does not fill the log.
TEST_F(LeaseTest, StatusFlagsThatComeAndGoAreAFewLines) {
  start();
  testing::internal::CaptureStderr();
  for (int i = 0; i < 500; ++i) {
    server_.status_flags ^= SEQ4_STATUS_LEASE_MOVED;
    ASSERT_TRUE(run(getattr(mount(), {}, handle(1))));
  }
  const std::string written = testing::internal::GetCapturedStderr();
  EXPECT_EQ(counter("session_status_flag_changes"), 500U);
  EXPECT_EQ(std::count(written.begin(), written.end(), '\n'), log::Limit::kLines);
}

// The lease is renewed at two thirds of 90 s, by a lone SEQUENCE of the session's own.
TEST_F(LeaseTest, RenewsTheLeaseWhenIdle) {
  start();
  reactor_.advance(seconds(59));
  EXPECT_TRUE(arrivals().empty());
  reactor_.advance(seconds(2));
  ASSERT_EQ(arrivals().size(), 1U);
  EXPECT_EQ(arrivals()[0].operations, std::vector{OP_SEQUENCE});
  EXPECT_EQ(arrivals()[0].urgency, rpc::Urgency::reserved);
  reactor_.advance(seconds(60));
  EXPECT_EQ(arrivals().size(), 2U);
}

// A server that was restarted with other settings, or another one that has taken over.
TEST_F(LeaseTest, ALeaseTimeThatIsAnotherAfterARestartCounts) {
  start();
  lease_seconds_ = 30;
  server_.forget(true);
  ASSERT_TRUE(run(getattr(mount(), {}, handle(1))));
  reactor_.settle();
  EXPECT_EQ(mount().lease_time(), seconds(30));
  const std::size_t before = arrivals().size();
  reactor_.advance(seconds(19));
  EXPECT_EQ(arrivals().size(), before);
  reactor_.advance(seconds(2));
  ASSERT_EQ(arrivals().size(), before + 1);
  EXPECT_EQ(arrivals().back().operations, std::vector{OP_SEQUENCE});
}

TEST_F(LeaseTest, ALeaseTimeThatIsNotToldAfterARestartIsThatOfBefore) {
  start();
  server_.forget(true);
  server_.fail(OP_GETATTR, NFS4ERR_IO, 2);
  EXPECT_FALSE(run(getattr(mount(), {}, handle(1))));
  reactor_.settle();
  EXPECT_EQ(mount().lease_time(), seconds(90));
  EXPECT_TRUE(run(getattr(mount(), {}, handle(1))));
}

// RFC 8881 section 8.3: the lease is renewed when the server sees the request, which may be just
// after it was sent; when the answer came says nothing.
TEST_F(LeaseTest, TheLeaseCountsFromTheRequest) {
  start();
  reactor_.advance(seconds(10));
  server_.fate = [](const Arrival& arrival) {
    return arrival.has(OP_GETATTR) ? Fate::hold : Fate::answer;
  };
  Pending<Result<Attributes>> waiting(getattr(mount(), {}, handle(1)));
  reactor_.advance(seconds(40));
  server_.release();
  reactor_.settle();
  ASSERT_TRUE(waiting.done());
  ASSERT_EQ(arrivals().size(), 1U);
  reactor_.advance(seconds(21));
  ASSERT_EQ(arrivals().size(), 2U) << "60 s after the request";
  EXPECT_EQ(arrivals()[1].operations, std::vector{OP_SEQUENCE});
}

TEST_F(LeaseTest, DoesNotRenewALeaseThatRequestsRenew) {
  start();
  for (int i = 0; i < 10; ++i) {
    reactor_.advance(seconds(30));
    ASSERT_TRUE(run(getattr(mount(), {}, handle(1))));
  }
  EXPECT_EQ(counter("lease_renewals"), 0U);
}

// E-8267-15: silence ends the connection; the request is then answered on the next one.
TEST_F(LeaseTest, ASilentServerIsFoundByTheRenewal) {
  start();
  server_.fate = [](const Arrival& arrival) {
    return arrival.connection == 1 ? Fate::hold : Fate::answer;
  };
  Pending<Result<Attributes>> waiting(getattr(mount(), {}, handle(1)));
  reactor_.advance(seconds(85));
  EXPECT_FALSE(waiting.done());
  reactor_.advance(seconds(10));
  ASSERT_TRUE(waiting.done());
  EXPECT_TRUE(waiting.value());
  EXPECT_EQ(counter("reconnects"), 1U);
}

// The answer to a renewal is lost, another request is answered, and then nothing is asked any more:
// the lease is renewed all the same.
TEST_F(LeaseTest, ALostRenewalIsNotTheLast) {
  start();
  server_.fate = [](const Arrival& arrival) {
    return arrival.connection == 1 && arrival.operations == std::vector{OP_SEQUENCE} ? Fate::hold
                                                                                     : Fate::answer;
  };
  reactor_.advance(seconds(65));
  ASSERT_EQ(arrivals().size(), 1U);
  ASSERT_TRUE(run(getattr(mount(), {}, handle(1))));
  const std::size_t before = arrivals().size();
  reactor_.advance(seconds(90));
  ASSERT_GT(arrivals().size(), before) << "a lease has passed without a renewal";
  EXPECT_EQ(arrivals()[before].connection, 2U);
  EXPECT_EQ(counter("reconnects"), 1U);
}

// However many requests wait: as long as nothing at all is answered, a slow server cannot be told
// from a dead one before the lease is at stake.
TEST_F(LeaseTest, TotalSilenceIsAMatterOfTheRenewal) {
  start();
  server_.fate = [](const Arrival& arrival) {
    return arrival.connection == 1 ? Fate::hold : Fate::answer;
  };
  std::vector<std::unique_ptr<Pending<Result<Attributes>>>> many;
  for (std::uint32_t i = 0; i < kSlots; ++i) {
    many.push_back(std::make_unique<Pending<Result<Attributes>>>(getattr(mount(), {}, handle(1))));
  }
  reactor_.advance(seconds(85));
  EXPECT_EQ(counter("overdue_connections"), 0U);
  EXPECT_EQ(counter("reconnects"), 0U);
  reactor_.advance(seconds(10));
  for (auto& one : many) EXPECT_TRUE(one->done());
}

// The server answers others: the connection is as good as any.
TEST_F(LeaseTest, ALateRenewalCostsNoConnectionThatAnswersOthers) {
  start();
  server_.fate = [](const Arrival& arrival) {
    return arrival.operations == std::vector{OP_SEQUENCE} ? Fate::hold : Fate::answer;
  };
  reactor_.advance(seconds(65));
  ASSERT_EQ(arrivals().size(), 1U);
  ASSERT_TRUE(run(getattr(mount(), {}, handle(1))));
  reactor_.advance(seconds(30));
  EXPECT_EQ(counter("reconnects"), 0U);
  server_.release();
  reactor_.settle();
  EXPECT_EQ(counter("lease_renewals"), 1U);
}

// RFC 8881 section 8.3: without another request the server would revoke all state.
TEST_F(LeaseTest, ARenewalThatFailedIsRepeatedBeforeTheLeaseEnds) {
  start();
  server_.fail(OP_SEQUENCE, NFS4ERR_REQ_TOO_BIG, 1);
  reactor_.advance(seconds(61));
  EXPECT_EQ(counter("lease_renewal_failures"), 1U);
  reactor_.advance(seconds(28));
  ASSERT_EQ(arrivals().size(), 2U);
  EXPECT_EQ(arrivals()[1].operations, std::vector{OP_SEQUENCE});
}

// What fills a slow line is answered all the time, but a minute after it was sent: made anew, the
// connection would have all of it sent once more.
TEST_F(LeaseTest, ASlowLineThatIsFullOfRequestsIsNotDead) {
  start();
  server_.fate = [](const Arrival&) { return Fate::hold; };
  std::vector<std::unique_ptr<Pending<Result<Attributes>>>> many;
  std::size_t sent = 0;
  const auto send = [&] {
    many.push_back(std::make_unique<Pending<Result<Attributes>>>(getattr(mount(), {}, handle(1))));
  };
  constexpr std::size_t kInTheLine = 7;
  constexpr seconds kBetween{10};
  for (; sent < kInTheLine; ++sent) {
    send();
    reactor_.advance(kBetween);
  }
  for (; sent < 40; ++sent) {
    server_.release_first();
    send();
    reactor_.advance(kBetween);
  }
  EXPECT_EQ(counter("reconnects"), 0U);
  server_.fate = nullptr;
  server_.release();
  reactor_.settle();
  for (auto& one : many) EXPECT_TRUE(one->done());
}

}  // namespace
}  // namespace nfsrdma::client::test
