// What a new session waits for, which number asks for it, and what memory is kept for that; against
// a fake server, in virtual time.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "client/requests/create.h"
#include "client/requests/getattr.h"
#include "client/requests/remove.h"
#include "tests/client/fake_mount.h"

namespace nfsrdma::client::test {
namespace {

using namespace nfs4;

class RenewedSession : public FakeMount {
 protected:
  void hold(nfs_opnum4 operation) {
    server_.fate = [operation](const Arrival& arrival) {
      return arrival.has(operation) ? Fate::hold : Fate::answer;
    };
  }
  void let_go() {
    server_.fate = nullptr;
    server_.release();
    reactor_.settle();
  }
  /// GETATTR, which finds the server as `flags` describe it.
  Pending<Result<Attributes>> ask_with(std::uint32_t flags) {
    server_.status_flags = flags;
    Pending<Result<Attributes>> asking(getattr(mount(), {}, handle(1)));
    reactor_.settle();
    return asking;
  }
  std::size_t sessions() const { return server_.executions_of(OP_CREATE_SESSION); }
};

// RFC 8881 section 18.46.3: it must wait for them. A REMOVE that is made twice would fail.
TEST_F(RenewedSession, WaitsForRequestsOnTheWireBesideABinding) {
  start();
  hold(OP_REMOVE);
  Pending<Result<NameChange>> removing(remove(mount(), {}, handle(1), "f"));
  reactor_.settle();
  auto asking = ask_with(SEQ4_STATUS_BACKCHANNEL_FAULT | SEQ4_STATUS_CB_PATH_DOWN);
  EXPECT_EQ(sessions(), 1U);
  server_.status_flags = 0;
  let_go();
  ASSERT_TRUE(removing.done());
  EXPECT_TRUE(removing.value());
  EXPECT_EQ(server_.arrivals_of(OP_REMOVE).size(), 1U);
  EXPECT_EQ(counter("session_requests_uncertain"), 0U);
  EXPECT_EQ(sessions(), 2U);
}

TEST_F(RenewedSession, ComesForAFaultThatWasSeenDuringABinding) {
  start();
  hold(OP_GETATTR);
  auto down = ask_with(SEQ4_STATUS_CB_PATH_DOWN);
  auto fault = ask_with(SEQ4_STATUS_CB_PATH_DOWN | SEQ4_STATUS_BACKCHANNEL_FAULT);
  let_go();
  ASSERT_TRUE(run(getattr(mount(), {}, handle(1))));
  reactor_.settle();
  EXPECT_EQ(sessions(), 2U);
}

// RECLAIM_COMPLETE's own SEQUENCE has the flag still.
TEST_F(RenewedSession, WhatIsReclaimedIsNotReclaimedAgainBecauseTheFlagStays) {
  start();
  server_.status_flags = SEQ4_STATUS_RESTART_RECLAIM_NEEDED;
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(run(getattr(mount(), {}, handle(1))));
  EXPECT_EQ(counter("recovery_reclaim_rounds"), 1U);
  EXPECT_EQ(counter("recovery_reclaim_completes"), 2U);
}

// The server keeps what it has answered to a number (RFC 8881 section 18.36.4).
TEST_F(RenewedSession, IsAskedForWithAnotherNumberWhenItWasRefused) {
  start();
  server_.forget(false);
  server_.sessions_to_refuse = 1;
  ASSERT_TRUE(run(getattr(mount(), {}, handle(1))));
}

TEST_F(RenewedSession, IsAskedForWithTheSameNumberWhereThatWasNotCounted) {
  start();
  server_.forget(false);
  server_.fail(OP_CREATE_SESSION, NFS4ERR_NOSPC, 3);
  ASSERT_TRUE(run(getattr(mount(), {}, handle(1))));
}

// Without one left for BIND_CONN_TO_SESSION a lost connection was the end of the mount.
TEST_F(RenewedSession, FindsMemoryBesideAnyNumberOfSymbolicLinks) {
  constexpr std::uint32_t kMost = MountConfig{}.max_slots;
  configure({}, kMost);
  start();
  hold(OP_CREATE);
  std::vector<std::unique_ptr<Pending<Result<Made>>>> links;
  for (std::size_t i = 0; i < Mount::message_slots(kMost); ++i) {
    links.push_back(std::make_unique<Pending<Result<Made>>>(
        make_symlink(mount(), {}, handle(1), "link" + std::to_string(i), "target")));
  }
  reactor_.settle();
  Pending<Result<Attributes>> asking(getattr(mount(), {}, handle(1)));
  reactor_.settle();
  server_.fate = nullptr;
  server_.disconnect();
  for (const auto& link : links) {
    reactor_.advance(std::chrono::minutes(1));
    EXPECT_TRUE(link->done());
  }
  ASSERT_TRUE(asking.done());
  EXPECT_TRUE(asking.value());
}

}  // namespace
}  // namespace nfsrdma::client::test
