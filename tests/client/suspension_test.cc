// A machine that was suspended: neither its clock nor its timers have gone on, and at the server
// the lease has (RFC 8881 section 8.3).
#include <gtest/gtest.h>

#include "client/files/lock.h"
#include "client/requests/getattr.h"
#include "client/session/session.h"
#include "tests/client/delegations.h"
#include "tests/client/fake_mount.h"

namespace nfsrdma::client::test {
namespace {

using namespace nfs4;
using std::chrono::milliseconds;
using std::chrono::seconds;

class SuspendedMachine : public FakeMount {};

// The machine sleeps, and neither time nor timers go on; at the server the lease does.
TEST_F(SuspendedMachine, TheLeaseIsRenewedSoonAfter) {
  start();
  reactor_.advance(seconds(20));
  reactor_.suspend(seconds(3600));
  EXPECT_FALSE(mount().session().lease_holds());
  EXPECT_TRUE(arrivals().empty());
  reactor_.advance(seconds(5));
  ASSERT_EQ(arrivals().size(), 1U);
  EXPECT_EQ(arrivals()[0].operations, std::vector{OP_SEQUENCE});
  EXPECT_TRUE(mount().session().lease_holds());
}

// Its answer may have waited in the socket for as long as the machine slept.
TEST_F(SuspendedMachine, ARequestFromBeforeRenewsNothing) {
  start();
  server_.fate = [](const Arrival& arrival) {
    return arrival.has(OP_GETATTR) ? Fate::hold : Fate::answer;
  };
  reactor_.advance(seconds(20));
  Pending<Result<Attributes>> waiting(getattr(mount(), {}, handle(1)));
  reactor_.settle();
  reactor_.suspend(seconds(89));
  reactor_.advance(milliseconds(1));
  EXPECT_FALSE(mount().session().lease_holds()) << "20 s and 89 s are more than the lease";
  server_.release();
  reactor_.settle();
  ASSERT_TRUE(waiting.done());
  EXPECT_FALSE(mount().session().lease_holds());
}

TEST_F(SuspendedMachine, ShortSuspensionsAddUp) {
  start();
  for (int i = 0; i < 100; ++i) {
    reactor_.suspend(milliseconds(950));
    (void)mount().session().lease_holds();
  }
  EXPECT_FALSE(mount().session().lease_holds());
}

class SuspendedHolder : public Delegations {};

// A machine that was suspended for longer than the lease: others may have the file since.
TEST_F(SuspendedHolder, GrantsNothingUntilTheLeaseIsRenewed) {
  Opened file = open_delegated("file", kBoth);
  ASSERT_TRUE(open_here(file, kRead)) << "as long as it holds";
  reactor_.settle();
  server_.fate = [](const Arrival&) { return Fate::hold; };
  reactor_.suspend(kLease + std::chrono::seconds(1));
  EXPECT_FALSE(open_here(file, kRead));
  const WantedLock wanted{.owner = {LockKind::posix, 1}, .range = {}, .exclusive = true};
  Pending<Result<LockGrant>> locking(client::lock(mount(), file.open.file(), wanted));
  reactor_.advance(std::chrono::seconds(10));
  EXPECT_FALSE(locking.done()) << "the server has not said that it is still this client's";
  server_.fate = nullptr;
  server_.disconnect();
  auto locked = finish(locking);
  EXPECT_TRUE(locked) << locked.error().message();
  close_at(mount(), std::move(file.open));
}

}  // namespace
}  // namespace nfsrdma::client::test
