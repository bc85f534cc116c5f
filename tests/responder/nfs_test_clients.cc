// Client ids, sessions, leases and back channels: RFC 8881 sections 18.34 to 18.37, 18.50, 18.51.
#include "tests/responder/nfs_test_support.h"

namespace nfsrdma::responder::test {

using namespace nfs4;

using NfsClientTest = NfsTest;

TEST_F(NfsClientTest, NewOwnerGetsAnUnconfirmedClientId) {
  start();
  TestClient client = unconnected("a");
  const auto first = exchange(client);
  EXPECT_EQ(first.eir_status, NFS4_OK);
  EXPECT_EQ(first.eir_resok4.eir_flags & EXCHGID4_FLAG_CONFIRMED_R, 0U);
  EXPECT_EQ(first.eir_resok4.eir_flags & EXCHGID4_FLAG_MASK_PNFS, EXCHGID4_FLAG_USE_NON_PNFS);
  // An unconfirmed record is replaced.
  const auto second = exchange(client);
  EXPECT_NE(second.eir_resok4.eir_clientid, first.eir_resok4.eir_clientid);
  client.clientid = first.eir_resok4.eir_clientid;
  EXPECT_EQ(create(client, 1).csr_status, NFS4ERR_STALE_CLIENTID);
}

TEST_F(NfsClientTest, SameOwnerAndVerifierKeepTheConfirmedClientId) {
  TestClient client = connect();
  const auto again = exchange(client);
  EXPECT_EQ(again.eir_resok4.eir_clientid, client.clientid);
  EXPECT_NE(again.eir_resok4.eir_flags & EXCHGID4_FLAG_CONFIRMED_R, 0U);
  EXPECT_EQ(run(client).status(), NFS4_OK) << "the session lives on";
}

TEST_F(NfsClientTest, RestartedClientLosesItsStateWhenItConfirms) {
  TestClient client = connect();
  TestClient restarted = unconnected(client.owner);
  restarted.verifier.fill(std::byte{7});
  const auto exchanged = exchange(restarted);
  EXPECT_NE(exchanged.eir_resok4.eir_clientid, client.clientid);
  EXPECT_EQ(run(client).status(), NFS4_OK) << "not before CREATE_SESSION";
  restarted.clientid = exchanged.eir_resok4.eir_clientid;
  EXPECT_EQ(create(restarted, exchanged.eir_resok4.eir_sequenceid).csr_status, NFS4_OK);
  EXPECT_EQ(raw(client, sequence(client)).status(), NFS4ERR_BADSESSION);
}

TEST_F(NfsClientTest, OwnerOfAnotherPrincipalIsInUse) {
  TestClient client = connect();
  TestClient thief = unconnected(client.owner);
  thief.credential = user(1000, 1000);
  EXPECT_EQ(exchange(thief).eir_status, NFS4ERR_CLID_INUSE);
}

TEST_F(NfsClientTest, UpdateOfAClientRecord) {
  TestClient client = connect();
  constexpr auto kUpdate = EXCHGID4_FLAG_UPD_CONFIRMED_REC_A;
  EXPECT_EQ(exchange(client, kUpdate).eir_status, NFS4_OK);
  TestClient unknown = unconnected("nobody has this");
  EXPECT_EQ(exchange(unknown, kUpdate).eir_status, NFS4ERR_NOENT);
  TestClient other_verifier = unconnected(client.owner);
  other_verifier.verifier.fill(std::byte{9});
  EXPECT_EQ(exchange(other_verifier, kUpdate).eir_status, NFS4ERR_NOT_SAME);
  TestClient other_user = unconnected(client.owner);
  other_user.credential = user(1000, 1000);
  EXPECT_EQ(exchange(other_user, kUpdate).eir_status, NFS4ERR_PERM);
}

TEST_F(NfsClientTest, ExchangeIdRefusesUnknownFlags) {
  start();
  TestClient client = unconnected("a");
  EXPECT_EQ(exchange(client, 0x00000004).eir_status, NFS4ERR_INVAL);
}

TEST_F(NfsClientTest, CreateSessionIsReplayedBySequence) {
  start();
  TestClient client = unconnected("a");
  const auto exchanged = exchange(client);
  client.clientid = exchanged.eir_resok4.eir_clientid;
  const sequenceid4 number = exchanged.eir_resok4.eir_sequenceid;
  EXPECT_EQ(create(client, number + 1).csr_status, NFS4ERR_SEQ_MISORDERED);
  EXPECT_EQ(create(client, number - 1).csr_status, NFS4ERR_SEQ_MISORDERED);
  const auto first = create(client, number);
  EXPECT_EQ(first.csr_status, NFS4_OK);
  const auto replayed = create(client, number);
  EXPECT_EQ(replayed.csr_resok4.csr_sessionid, first.csr_resok4.csr_sessionid);
  const auto second = create(client, number + 1);
  EXPECT_EQ(second.csr_status, NFS4_OK);
  EXPECT_NE(second.csr_resok4.csr_sessionid, first.csr_resok4.csr_sessionid);
}

// E-8881-9, E-8881-11, E-8881-12
TEST_F(NfsClientTest, LimitsAreLoweredAndNeverRaised) {
  config.channel.max_slots = 8;
  config.channel.max_response_size = 100'000;
  start();
  TestClient client = unconnected("a");
  const auto exchanged = exchange(client);
  client.clientid = exchanged.eir_resok4.eir_clientid;
  CREATE_SESSION4args args = create_session(client, 1);
  args.csa_fore_chan_attrs = {512, 2000, 1 << 20, 600, 4, 1000, 7};
  args.csa_flags |= CREATE_SESSION4_FLAG_PERSIST | CREATE_SESSION4_FLAG_CONN_RDMA;
  const auto created = raw(client, args).next<CREATE_SESSION4res>();
  const channel_attrs4& fore = created.csr_resok4.csr_fore_chan_attrs;
  EXPECT_EQ(fore.ca_headerpadsize, 0U);
  EXPECT_EQ(fore.ca_maxrequestsize, 2000U);
  EXPECT_EQ(fore.ca_maxresponsesize, 100'000U);
  EXPECT_EQ(fore.ca_maxresponsesize_cached, 600U);
  EXPECT_EQ(fore.ca_maxoperations, 4U);
  EXPECT_EQ(fore.ca_maxrequests, 8U);
  EXPECT_EQ(created.csr_resok4.csr_back_chan_attrs.ca_maxoperations, 2U);
  EXPECT_EQ(created.csr_resok4.csr_back_chan_attrs.ca_maxrequests, 1U);
  EXPECT_EQ(created.csr_resok4.csr_flags, CREATE_SESSION4_FLAG_CONN_BACK_CHAN);
}

TEST_F(NfsClientTest, UselessLimitsAreTooSmall) {
  start();
  TestClient client = unconnected("a");
  client.clientid = exchange(client).eir_resok4.eir_clientid;
  CREATE_SESSION4args args = create_session(client, 1);
  args.csa_fore_chan_attrs.ca_maxresponsesize = 16;
  EXPECT_EQ(raw(client, args).status(), NFS4ERR_TOOSMALL);
  args = create_session(client, 1);
  args.csa_back_chan_attrs.ca_maxrequestsize = 10;
  EXPECT_EQ(raw(client, args).status(), NFS4ERR_TOOSMALL);
  args = create_session(client, 1);
  args.csa_back_chan_attrs.ca_maxoperations = 1;
  EXPECT_EQ(raw(client, args).status(), NFS4ERR_TOOSMALL);
  args = create_session(client, 1);
  args.csa_fore_chan_attrs.ca_maxrequestsize = args.csa_fore_chan_attrs.ca_maxresponsesize = 400;
  EXPECT_EQ(raw(client, args).status(), NFS4_OK) << "little, but enough for something";
}

// E-8881-14: the same slot and sequence number again are executed once.
// E-8881-10, E-8881-15: the data counts as part of the reply.
TEST_F(NfsClientTest, BackChannelPathIsReportedAndBoundAgain) {
  TestClient client = connect();
  service->on_connection_closed(*client.connection);
  client.connection = std::make_unique<FakeConnection>(50);
  EXPECT_EQ(sequence_alone(client, sequence(client)).sr_resok4.sr_status_flags,
            SEQ4_STATUS_CB_PATH_DOWN | SEQ4_STATUS_CB_PATH_DOWN_SESSION);
  BIND_CONN_TO_SESSION4args bind;
  bind.bctsa_sessid = client.sessionid;
  bind.bctsa_dir = CDFC4_FORE_OR_BOTH;
  const auto bound = raw(client, bind).next<BIND_CONN_TO_SESSION4res>();
  EXPECT_EQ(bound.bctsr_status, NFS4_OK);
  EXPECT_EQ(bound.bctsr_resok4.bctsr_dir, CDFS4_BOTH);
  EXPECT_EQ(sequence_alone(client, sequence(client)).sr_resok4.sr_status_flags, 0U);
}

// E-8881-8
TEST_F(NfsClientTest, SessionsAndClientIdsAreDestroyed) {
  TestClient client = connect();
  DESTROY_CLIENTID4args destroy_client{client.clientid};
  EXPECT_EQ(raw(client, destroy_client).status(), NFS4ERR_CLIENTID_BUSY);
  const DESTROY_SESSION4args destroy_session{client.sessionid};
  EXPECT_EQ(raw(client, destroy_session).status(), NFS4_OK);
  EXPECT_EQ(raw(client, destroy_session).status(), NFS4ERR_BADSESSION);
  EXPECT_EQ(raw(client, destroy_client).status(), NFS4_OK);
  EXPECT_EQ(raw(client, destroy_client).status(), NFS4ERR_STALE_CLIENTID);
}

TEST_F(NfsClientTest, ASessionMayEndItself) {
  TestClient client = connect();
  const DESTROY_SESSION4args destroy{client.sessionid};
  EXPECT_EQ(run(client, destroy, PUTROOTFH4args{}).status(), NFS4ERR_NOT_ONLY_OP);
  EXPECT_EQ(run(client, destroy).status(), NFS4_OK);
  EXPECT_EQ(raw(client, sequence(client)).status(), NFS4ERR_BADSESSION);
  EXPECT_EQ(raw(client, DESTROY_CLIENTID4args{client.clientid}).status(), NFS4_OK);
}

TEST_F(NfsClientTest, ARequestThatEndsItsOwnClientGoesNoFurther) {
  TestClient client = connect();
  TestClient restarted = unconnected(client.owner);
  restarted.verifier.fill(std::byte{7});
  restarted.clientid = exchange(restarted).eir_resok4.eir_clientid;
  const Results results = run(client, create_session(restarted, 1), PUTROOTFH4args{});
  EXPECT_EQ(results.status(), NFS4ERR_DEADSESSION);
  EXPECT_EQ(results.count(), 3U);
}

TEST_F(NfsClientTest, AFloodOfOwnersAndSessionsIsBounded) {
  TestClient client = connect();
  nfsstat4 status = NFS4_OK;
  std::uint32_t sessions = 1;
  for (; status == NFS4_OK && sessions < 1000; ++sessions) {
    status = create(client, sessions + 1).csr_status;
  }
  EXPECT_EQ(status, NFS4ERR_NOSPC);
  status = NFS4_OK;
  for (int i = 0; status == NFS4_OK && i < 3000; ++i) {
    TestClient other = unconnected("owner-" + std::to_string(i));
    status = exchange(other).eir_status;
  }
  EXPECT_EQ(status, NFS4_OK) << "unconfirmed records make room (RFC 8881 section 18.35.4)";
  EXPECT_EQ(run(client).status(), NFS4_OK) << "clients that are there are still served";
}

// RFC 8881 section 18.35.4: a full table admits a client as long as a record without state can go.
TEST_F(NfsClientTest, ClientsWithoutStateMakeRoomForOthers) {
  constexpr int kMost = 1024;
  TestClient holder = connect("holder");
  write_file("file", "x");
  ASSERT_EQ(open(holder, open_args("file", OPEN4_SHARE_ACCESS_READ)).status, NFS4_OK);
  TestClient first;
  for (int i = 1; i < kMost; ++i) {
    TestClient idle = connect("idle-" + std::to_string(i));
    reactor.advance(std::chrono::milliseconds(1));
    if (i == 1) first = std::move(idle);
  }
  TestClient late = connect("late");
  EXPECT_EQ(run(late).status(), NFS4_OK);
  EXPECT_EQ(raw(first, sequence(first)).status(), NFS4ERR_BADSESSION) << "idle for longest";
  EXPECT_EQ(run(holder).status(), NFS4_OK) << "idle for longer, but it has a file open";
}

// RFC 8881 sections 18.36.3 and 18.33: callbacks are made with the credential the client has named.
TEST_F(NfsClientTest, CallbacksHaveTheCredentialThatTheClientNames) {
  start();
  TestClient client = unconnected("a");
  client.clientid = exchange(client).eir_resok4.eir_clientid;
  CREATE_SESSION4args args = create_session(client, 1);
  callback_sec_parms4 named;
  named.cb_secflavor = kRpcsecGss;
  args.csa_sec_parms.push_back(named);
  named.cb_secflavor = kAuthSys;
  named.cbsp_sys_cred = {0, "host", 17, 19, {20, 21}};
  args.csa_sec_parms.push_back(named);
  const auto created = raw(client, args).next<CREATE_SESSION4res>();
  client.sessionid = created.csr_resok4.csr_sessionid;
  EXPECT_EQ(created.csr_resok4.csr_flags, CREATE_SESSION4_FLAG_CONN_BACK_CHAN);
  service->set_target_slots(2, true);
  ASSERT_EQ(client.connection->callbacks.size(), 1U);
  const CallbackTarget& target = client.connection->callbacks.front().target;
  EXPECT_EQ(target.credential.flavor, rpc::AuthFlavor::sys);
  EXPECT_EQ(target.credential.uid, 17U);
  EXPECT_EQ(target.credential.gid, 19U);
  EXPECT_EQ(target.credential.group_count, 2U);
  EXPECT_EQ(target.machine_name, "host");

  client.connection->callbacks.front().done(fail(Error::local(EIO, "test")));
  service->on_connection_closed(*client.connection);
  BIND_CONN_TO_SESSION4args bind;
  bind.bctsa_sessid = client.sessionid;
  bind.bctsa_dir = CDFC4_BACK;
  EXPECT_EQ(raw(client, bind).status(), NFS4_OK);
  BACKCHANNEL_CTL4args change;
  change.bca_cb_program = 0x40000001;
  change.bca_sec_parms.emplace_back();  // AUTH_NONE
  EXPECT_EQ(run(client, change).status(), NFS4_OK);
  service->set_target_slots(1, true);
  ASSERT_EQ(client.connection->callbacks.size(), 2U);
  EXPECT_EQ(client.connection->callbacks.back().target.credential.flavor, rpc::AuthFlavor::none);
  EXPECT_EQ(client.connection->callbacks.back().target.program, 0x40000001U);
  change.bca_sec_parms.front().cb_secflavor = kRpcsecGss;
  EXPECT_EQ(run(client, change).status(), NFS4ERR_NOENT);
}

// Without a flavor that is spoken here there are no callbacks.
TEST_F(NfsClientTest, NoBackChannelWithoutACredentialForIt) {
  start();
  TestClient client = unconnected("a");
  client.clientid = exchange(client).eir_resok4.eir_clientid;
  CREATE_SESSION4args args = create_session(client, 1);
  args.csa_sec_parms.emplace_back().cb_secflavor = kRpcsecGss;
  const auto created = raw(client, args).next<CREATE_SESSION4res>();
  EXPECT_EQ(created.csr_status, NFS4_OK);
  EXPECT_EQ(created.csr_resok4.csr_flags, 0U);
}

TEST_F(NfsClientTest, ReclaimCompleteComesOnce) {
  TestClient client = connect();
  EXPECT_EQ(run(client, RECLAIM_COMPLETE4args{}).status(), NFS4ERR_COMPLETE_ALREADY);
}

TEST_F(NfsClientTest, ALeaseIsRenewedByRequestsAndExpiresWithoutThem) {
  config.lease_seconds = 30;
  TestClient client = connect();
  TestClient other = connect("client-2");
  const Opened file =
      open(client,
           creating(open_args("file", OPEN4_SHARE_ACCESS_READ, OPEN4_SHARE_DENY_BOTH), GUARDED4));
  ASSERT_EQ(file.status, NFS4_OK);
  for (int i = 0; i < 5; ++i) {
    reactor.advance(std::chrono::seconds(20));
    EXPECT_EQ(run(client).status(), NFS4_OK);
    EXPECT_EQ(run(other).status(), NFS4_OK);
  }
  const OPEN4args wanted = open_args("file", OPEN4_SHARE_ACCESS_READ);
  EXPECT_EQ(open(other, wanted).status, NFS4ERR_SHARE_DENIED);
  for (int i = 0; i < 4; ++i) {
    reactor.advance(std::chrono::seconds(20));
    EXPECT_EQ(run(other).status(), NFS4_OK);
  }
  EXPECT_EQ(raw(client, sequence(client)).status(), NFS4ERR_BADSESSION);
  EXPECT_EQ(open(other, wanted).status, NFS4_OK);
}

// RFC 8881 section 8.3: its state may go at once when it is in the way of another's request.
TEST_F(NfsClientTest, AClientWhoseLeaseHasRunOutIsInNobodysWay) {
  config.lease_seconds = 30;
  TestClient client = connect();
  TestClient other = connect("client-2");
  ASSERT_EQ(open(client, creating(open_args("file", OPEN4_SHARE_ACCESS_READ, OPEN4_SHARE_DENY_BOTH),
                                  GUARDED4))
                .status,
            NFS4_OK);
  const OPEN4args wanted = open_args("file", OPEN4_SHARE_ACCESS_READ);
  reactor.advance(std::chrono::seconds(29));
  EXPECT_EQ(run(client).status(), NFS4_OK);
  EXPECT_EQ(open(other, wanted).status, NFS4ERR_SHARE_DENIED);
  reactor.advance(std::chrono::milliseconds(30500));
  EXPECT_EQ(open(other, wanted).status, NFS4_OK);
  EXPECT_EQ(raw(client, sequence(client)).status(), NFS4ERR_BADSESSION);
}

}  // namespace nfsrdma::responder::test
