// Sessions that are replaced while the server has them still: without DESTROY_SESSION each would
// stay there with its reply cache for the life of the mount, and keep the client id from being
// destroyed with it (RFC 8881 sections 18.37 and 18.50.3). In virtual time.
#include <gtest/gtest.h>

#include <utility>

#include "client/requests/getattr.h"
#include "tests/client/served_mount.h"

namespace nfsrdma::client::test {
namespace {

using namespace nfs4;
using std::chrono::seconds;

constexpr std::uint32_t kReclaimSeconds = 60;
constexpr std::uint32_t kLeaseSeconds = ServedDirectory::kLeaseSeconds;

class ReplacedSession : public ServedMount {
 protected:
  /// The server restarts, and the connection breaks in the midst of the reclaim.
  void recover_in_two_attempts() {
    server_.write_file("file", "text");
    Opened file = open_file("file", OPEN4_SHARE_ACCESS_READ);
    server_.fate = [cut = false](const Arrival& arrival) mutable {
      return arrival.has(OP_OPEN) && !std::exchange(cut, true) ? Fate::disconnect_after
                                                               : Fate::answer;
    };
    server_.reboot(kReclaimSeconds);
    EXPECT_TRUE(read_text(file));
    EXPECT_EQ(counter("recovery_sessions"), 3U);
  }
  /// CLIENTID_BUSY if the server has one session more than the mount knows of.
  void expect_nothing_left() {
    auto stopped = run(mount().stop());
    EXPECT_TRUE(stopped) << stopped.error().message();
  }
};

TEST_F(ReplacedSession, IsDestroyedWhenAReclaimWasCutOff) {
  recover_in_two_attempts();
  expect_nothing_left();
}

// RFC 8881 section 18.37.3: only on a connection that is associated with it.
TEST_F(ReplacedSession, IsDestroyedOnAConnectionThatMustBeBoundForIt) {
  server_.fail(OP_DESTROY_SESSION, NFS4ERR_CONN_NOT_BOUND_TO_SESSION);
  recover_in_two_attempts();
  EXPECT_EQ(server_.failures_left(OP_DESTROY_SESSION), 0);
  expect_nothing_left();
}

TEST_F(ReplacedSession, IsDestroyedWhenItsSlotsWereOutOfOrder) {
  server_.fail(OP_SEQUENCE, NFS4ERR_SEQ_MISORDERED);
  ASSERT_TRUE(run(getattr(mount(), caller(), root())));
  EXPECT_EQ(counter("session_losses"), 1U);
  expect_nothing_left();
}

// A WRITE that is executed still, and sent again in the new session, must not come behind a later
// one.
TEST_F(ReplacedSession, IsWaitedForWhileTheServerExecutesARequestOfIt) {
  server_.fail(OP_DESTROY_SESSION, NFS4ERR_DELAY, 3);
  server_.fail(OP_SEQUENCE, NFS4ERR_SEQ_MISORDERED);
  ASSERT_TRUE(run(getattr(mount(), caller(), root())));
  EXPECT_EQ(server_.failures_left(OP_DESTROY_SESSION), 0);
  expect_nothing_left();
}

// That may be for ever, and the lease goes on.
TEST_F(ReplacedSession, IsLeftBehindWhenTheServerIsBusyWithIt) {
  constexpr int kForEver = 1'000'000;
  server_.fail(OP_DESTROY_SESSION, NFS4ERR_DELAY, kForEver);
  server_.fail(OP_SEQUENCE, NFS4ERR_SEQ_MISORDERED);
  Pending<Result<Attributes>> asking(getattr(mount(), caller(), root()));
  reactor_.advance(seconds(1));
  EXPECT_FALSE(asking.done());
  reactor_.advance(seconds(kLeaseSeconds / 2));
  EXPECT_TRUE(asking.done());
  server_.fail(OP_DESTROY_SESSION, NFS4_OK, 0);
}

}  // namespace
}  // namespace nfsrdma::client::test
