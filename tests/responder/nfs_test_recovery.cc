// Restarts, grace periods and scripted faults: RFC 8881 sections 8.4.2 and 18.51.
#include "tests/responder/nfs_test_support.h"

namespace nfsrdma::responder::test {

using namespace nfs4;

class NfsRecoveryTest : public NfsTest {
 protected:
  void SetUp() override {
    config.grace_seconds = 60;
    write_file("file", "content");
    start();
    reactor.advance(std::chrono::seconds(61));
    client = connect();
    opened = open(client, open_args("file", OPEN4_SHARE_ACCESS_BOTH));
    ASSERT_EQ(opened.status, NFS4_OK);
  }
  /// As `connect`, with the same connection.
  void reconnect(TestClient& lost) {
    const auto exchanged = raw(lost, exchange_id(lost)).next<EXCHANGE_ID4res>();
    lost.clientid = exchanged.eir_resok4.eir_clientid;
    const auto created = raw(lost, create_session(lost, exchanged.eir_resok4.eir_sequenceid))
                             .next<CREATE_SESSION4res>();
    lost.sessionid = created.csr_resok4.csr_sessionid;
    std::ranges::fill(lost.sequences, 0U);
  }
  OPEN4res reclaim(TestClient& who) {
    OPEN4args args = open_args("", OPEN4_SHARE_ACCESS_BOTH);
    args.claim.claim = CLAIM_PREVIOUS;
    return on<OPEN4res>(who, opened.handle, args);
  }
  verifier4 write_verifier(const stateid4& stateid) {
    WRITE4args args;
    args.stateid = stateid;
    args.data.data = bytes_of("x");
    return on<WRITE4res>(client, opened.handle, args).resok4.writeverf;
  }

  TestClient client;
  Opened opened;
};

TEST_F(NfsRecoveryTest, ARestartForgetsSessionsAndClients) {
  service->restart();
  EXPECT_EQ(raw(client, sequence(client)).status(), NFS4ERR_BADSESSION);
  EXPECT_EQ(raw(client, create_session(client, 2)).status(), NFS4ERR_STALE_CLIENTID);
}

TEST_F(NfsRecoveryTest, OpensAndLocksAreReclaimedInTheGracePeriod) {
  const verifier4 before = write_verifier(opened.stateid);
  service->restart();
  reconnect(client);
  EXPECT_EQ(status_on(client, opened.handle, READ4args{opened.stateid, 0, 1}),
            NFS4ERR_STALE_STATEID);
  EXPECT_EQ(open(client, open_args("file", OPEN4_SHARE_ACCESS_READ)).status, NFS4ERR_GRACE);
  EXPECT_EQ(status_on(client, opened.handle, READ4args{kAnonymousStateid, 0, 1}), NFS4ERR_GRACE);
  const auto reclaimed = reclaim(client);
  ASSERT_EQ(reclaimed.status, NFS4_OK);
  LOCK4args lock;
  lock.locktype = WRITE_LT;
  lock.length = 10;
  lock.locker.new_lock_owner = true;
  lock.locker.open_owner.open_stateid = reclaimed.resok4.stateid;
  lock.locker.open_owner.lock_owner.owner = bytes_of("a");
  EXPECT_EQ(status_on(client, opened.handle, lock), NFS4ERR_GRACE);
  lock.reclaim = true;
  EXPECT_EQ(status_on(client, opened.handle, lock), NFS4_OK);
  EXPECT_NE(write_verifier(reclaimed.resok4.stateid), before);
}

TEST_F(NfsRecoveryTest, TheGracePeriodEndsWhenAllHaveReclaimed) {
  TestClient second = connect("client-2");
  service->restart();
  reconnect(client);
  reconnect(second);
  EXPECT_EQ(reclaim(client).status, NFS4_OK);
  EXPECT_EQ(run(client, RECLAIM_COMPLETE4args{}).status(), NFS4_OK);
  EXPECT_EQ(reclaim(client).status, NFS4ERR_NO_GRACE);
  const OPEN4args plain = open_args("file", OPEN4_SHARE_ACCESS_READ, 0, "another");
  EXPECT_EQ(open(client, plain).status, NFS4ERR_GRACE);
  EXPECT_EQ(run(second, RECLAIM_COMPLETE4args{}).status(), NFS4_OK);
  EXPECT_EQ(open(client, plain).status, NFS4_OK);
}

TEST_F(NfsRecoveryTest, StrangersCannotReclaim) {
  service->restart();
  TestClient stranger = connect("was not here before", false);
  EXPECT_EQ(reclaim(stranger).status, NFS4ERR_RECLAIM_BAD);
}

TEST_F(NfsRecoveryTest, TheGracePeriodEndsByTime) {
  service->restart();
  reconnect(client);
  reactor.advance(std::chrono::seconds(61));
  EXPECT_EQ(reclaim(client).status, NFS4ERR_NO_GRACE);
  EXPECT_EQ(run(client, RECLAIM_COMPLETE4args{}).status(), NFS4_OK);
  EXPECT_EQ(open(client, open_args("file", OPEN4_SHARE_ACCESS_READ)).status, NFS4_OK);
}

TEST_F(NfsRecoveryTest, ARestartWhileAReplyIsHeldBack) {
  OperationFault slow;
  slow.opnum = OP_GETFH;
  slow.delay = std::chrono::seconds(5);
  service->inject(slow);
  const auto held = send_raw(client, sequence(client), PUTROOTFH4args{}, GETFH4args{});
  EXPECT_FALSE(held->replied);
  service->restart();
  reactor.advance(std::chrono::seconds(6));
  EXPECT_TRUE(held->replied);
  EXPECT_EQ(raw(client, sequence(client)).status(), NFS4ERR_BADSESSION);
}

TEST_F(NfsRecoveryTest, AHeldReplyIsDroppedWithTheService) {
  OperationFault slow;
  slow.opnum = OP_PUTROOTFH;
  slow.delay = std::chrono::seconds(5);
  service->inject(slow);
  const auto held = send_raw(client, sequence(client), PUTROOTFH4args{});
  service.reset();
  EXPECT_TRUE(held->dropped);
  EXPECT_FALSE(held->replied);
}

TEST_F(NfsRecoveryTest, FaultsAnswerForChosenOperations) {
  OperationFault fault;
  fault.opnum = OP_GETFH;
  fault.skip = 1;
  fault.times = 2;
  fault.status = NFS4ERR_DELAY;
  service->inject(fault);
  const auto getfh = [&] { return run(client, PUTROOTFH4args{}, GETFH4args{}).status(); };
  EXPECT_EQ(getfh(), NFS4_OK);
  EXPECT_EQ(getfh(), NFS4ERR_DELAY);
  EXPECT_EQ(getfh(), NFS4ERR_DELAY);
  EXPECT_EQ(getfh(), NFS4_OK);
  EXPECT_EQ(service->faults_applied(), 2U);
}

TEST_F(NfsRecoveryTest, AFaultKeepsTheOperationFromBeingExecuted) {
  OperationFault fault;
  fault.opnum = OP_REMOVE;
  fault.status = NFS4ERR_IO;
  service->inject(fault);
  EXPECT_EQ(status_on(client, root(client), REMOVE4args{"file"}), NFS4ERR_IO);
  EXPECT_EQ(read_file("file"), "content");
  EXPECT_EQ(status_on(client, root(client), REMOVE4args{"file"}), NFS4_OK);
}

}  // namespace nfsrdma::responder::test
