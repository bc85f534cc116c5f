// Client ids, sessions, slots and their reply cache: RFC 8881 sections 2.10, 18.35 to 18.37, 18.46.
#include "tests/responder/nfs_test_support.h"

namespace nfsrdma::responder::test {

using namespace nfs4;

class NfsSessionTest : public NfsTest {
 protected:
  EXCHANGE_ID4res exchange(TestClient& client, std::uint32_t flags = 0) {
    return raw(client, exchange_id(client, flags)).next<EXCHANGE_ID4res>();
  }
  CREATE_SESSION4res create(TestClient& client, sequenceid4 number) {
    return raw(client, create_session(client, number)).next<CREATE_SESSION4res>();
  }
  TestClient another(const std::string& owner) {
    TestClient client;
    client.owner = owner;
    client.connection = std::make_unique<FakeConnection>(100);
    return client;
  }
  SEQUENCE4res sequence_alone(TestClient& client, const SEQUENCE4args& args) {
    return raw(client, args).next<SEQUENCE4res>();
  }
};

TEST_F(NfsSessionTest, NewOwnerGetsAnUnconfirmedClientId) {
  start();
  TestClient client = another("a");
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

TEST_F(NfsSessionTest, SameOwnerAndVerifierKeepTheConfirmedClientId) {
  TestClient client = connect();
  const auto again = exchange(client);
  EXPECT_EQ(again.eir_resok4.eir_clientid, client.clientid);
  EXPECT_NE(again.eir_resok4.eir_flags & EXCHGID4_FLAG_CONFIRMED_R, 0U);
  EXPECT_EQ(run(client).status(), NFS4_OK) << "the session lives on";
}

TEST_F(NfsSessionTest, RestartedClientLosesItsStateWhenItConfirms) {
  TestClient client = connect();
  TestClient restarted = another(client.owner);
  restarted.verifier.fill(std::byte{7});
  const auto exchanged = exchange(restarted);
  EXPECT_NE(exchanged.eir_resok4.eir_clientid, client.clientid);
  EXPECT_EQ(run(client).status(), NFS4_OK) << "not before CREATE_SESSION";
  restarted.clientid = exchanged.eir_resok4.eir_clientid;
  EXPECT_EQ(create(restarted, exchanged.eir_resok4.eir_sequenceid).csr_status, NFS4_OK);
  EXPECT_EQ(raw(client, sequence(client)).status(), NFS4ERR_BADSESSION);
}

TEST_F(NfsSessionTest, OwnerOfAnotherPrincipalIsInUse) {
  TestClient client = connect();
  TestClient thief = another(client.owner);
  thief.credential = user(1000, 1000);
  EXPECT_EQ(exchange(thief).eir_status, NFS4ERR_CLID_INUSE);
}

TEST_F(NfsSessionTest, UpdateOfAClientRecord) {
  TestClient client = connect();
  constexpr auto kUpdate = EXCHGID4_FLAG_UPD_CONFIRMED_REC_A;
  EXPECT_EQ(exchange(client, kUpdate).eir_status, NFS4_OK);
  TestClient unknown = another("nobody has this");
  EXPECT_EQ(exchange(unknown, kUpdate).eir_status, NFS4ERR_NOENT);
  TestClient other_verifier = another(client.owner);
  other_verifier.verifier.fill(std::byte{9});
  EXPECT_EQ(exchange(other_verifier, kUpdate).eir_status, NFS4ERR_NOT_SAME);
  TestClient other_user = another(client.owner);
  other_user.credential = user(1000, 1000);
  EXPECT_EQ(exchange(other_user, kUpdate).eir_status, NFS4ERR_PERM);
}

TEST_F(NfsSessionTest, ExchangeIdRefusesUnknownFlags) {
  start();
  TestClient client = another("a");
  EXPECT_EQ(exchange(client, 0x00000004).eir_status, NFS4ERR_INVAL);
}

TEST_F(NfsSessionTest, CreateSessionIsReplayedBySequence) {
  start();
  TestClient client = another("a");
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
TEST_F(NfsSessionTest, LimitsAreLoweredAndNeverRaised) {
  config.channel.max_slots = 8;
  config.channel.max_response_size = 100'000;
  start();
  TestClient client = another("a");
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

TEST_F(NfsSessionTest, UselessLimitsAreTooSmall) {
  start();
  TestClient client = another("a");
  client.clientid = exchange(client).eir_resok4.eir_clientid;
  CREATE_SESSION4args args = create_session(client, 1);
  args.csa_fore_chan_attrs.ca_maxresponsesize = 16;
  EXPECT_EQ(raw(client, args).status(), NFS4ERR_TOOSMALL);
}

TEST_F(NfsSessionTest, SequenceTellsSlotsAndTargets) {
  TestClient client = connect();
  const auto result = sequence_alone(client, sequence(client));
  EXPECT_EQ(result.sr_resok4.sr_sessionid, client.sessionid);
  EXPECT_EQ(result.sr_resok4.sr_highest_slotid, 15U);
  EXPECT_EQ(result.sr_resok4.sr_target_highest_slotid, 15U);
  EXPECT_EQ(result.sr_resok4.sr_status_flags, 0U);
}

TEST_F(NfsSessionTest, SequenceRefusesWhatIsOutOfOrder) {
  TestClient client = connect();
  SEQUENCE4args args = sequence(client);
  args.sa_slotid = 16;
  EXPECT_EQ(sequence_alone(client, args).sr_status, NFS4ERR_BADSLOT);
  args.sa_slotid = 0;
  args.sa_highest_slotid = 16;
  EXPECT_EQ(sequence_alone(client, args).sr_status, NFS4ERR_BAD_HIGH_SLOT);
  args.sa_highest_slotid = 0;
  args.sa_sequenceid += 1;
  EXPECT_EQ(sequence_alone(client, args).sr_status, NFS4ERR_SEQ_MISORDERED);
  args.sa_sequenceid -= 1;
  EXPECT_EQ(sequence_alone(client, args).sr_status, NFS4_OK);
  args.sa_sessionid.fill(std::byte{1});
  EXPECT_EQ(sequence_alone(client, args).sr_status, NFS4ERR_BADSESSION);
}

TEST_F(NfsSessionTest, ASequenceIdOfANeverUsedSlotIsMisordered) {
  TestClient client = connect();
  SEQUENCE4args args = sequence(client, 3);
  args.sa_sequenceid = 0;
  EXPECT_EQ(sequence_alone(client, args).sr_status, NFS4ERR_SEQ_MISORDERED);
}

// E-8881-14: the same slot and sequence number again are executed once.
TEST_F(NfsSessionTest, ACachedRequestIsReplayedAndNotExecutedAgain) {
  TestClient client = connect();
  const SEQUENCE4args cached = sequence(client, 1, true);
  CREATE4args directory;
  directory.objtype.type = NF4DIR;
  directory.objname = "made-once";
  const auto first = send_raw(client, cached, PUTROOTFH4args{}, directory);
  EXPECT_EQ(Results(first).status(), NFS4_OK);
  const auto second = send_raw(client, cached, PUTROOTFH4args{}, directory);
  EXPECT_EQ(second->reply_octets, first->reply_octets);
}

TEST_F(NfsSessionTest, AReplayContainsTheDataOfRead) {
  write_file("file", "payload!!");
  TestClient client = connect();
  const nfs_fh4 file = lookup(client, root(client), "file");
  const SEQUENCE4args cached = sequence(client, 1, true);
  const READ4args read{kAnonymousStateid, 0, 100};
  const auto first = send_raw(client, cached, putfh(file), read, GETFH4args{});
  EXPECT_EQ(Results(first).status(), NFS4_OK);
  write_file("file", "different");
  const auto second = send_raw(client, cached, putfh(file), read, GETFH4args{});
  EXPECT_EQ(second->reply_octets, first->reply_octets);
}

TEST_F(NfsSessionTest, AnUncachedRequestIsNotExecutedAgain) {
  TestClient client = connect();
  const SEQUENCE4args uncached = sequence(client);
  CREATE4args directory;
  directory.objtype.type = NF4DIR;
  directory.objname = "made-once";
  EXPECT_EQ(raw(client, uncached, PUTROOTFH4args{}, directory).status(), NFS4_OK);
  Results again = raw(client, uncached, PUTROOTFH4args{}, directory);
  EXPECT_EQ(again.status(), NFS4ERR_RETRY_UNCACHED_REP);
  EXPECT_EQ(again.count(), 2U);
  EXPECT_EQ(again.next<SEQUENCE4res>().sr_status, NFS4_OK);
  EXPECT_EQ(again.next<PUTROOTFH4res>().status, NFS4ERR_RETRY_UNCACHED_REP);
}

TEST_F(NfsSessionTest, SequenceAloneIsAlwaysReplayed) {
  TestClient client = connect();
  const SEQUENCE4args args = sequence(client);
  const auto first = send_raw(client, args);
  EXPECT_EQ(send_raw(client, args)->reply_octets, first->reply_octets);
}

TEST_F(NfsSessionTest, AnotherRequestUnderAUsedSequenceIdIsAFalseRetry) {
  TestClient client = connect();
  const SEQUENCE4args args = sequence(client, 0, true);
  EXPECT_EQ(raw(client, args, PUTROOTFH4args{}).status(), NFS4_OK);
  EXPECT_EQ(raw(client, args, PUTROOTFH4args{}, GETFH4args{}).status(), NFS4ERR_SEQ_FALSE_RETRY);
}

TEST_F(NfsSessionTest, ARetryOfARequestInProgressIsDelayed) {
  TestClient client = connect();
  OperationFault slow;
  slow.opnum = OP_CREATE;
  slow.delay = std::chrono::seconds(1);
  service->inject(slow);
  const SEQUENCE4args args = sequence(client, 2, true);
  CREATE4args directory;
  directory.objtype.type = NF4DIR;
  directory.objname = "made-once";
  const auto first = send_raw(client, args, PUTROOTFH4args{}, directory);
  EXPECT_FALSE(first->replied);
  EXPECT_EQ(raw(client, args, PUTROOTFH4args{}, directory).status(), NFS4ERR_DELAY);
  reactor.advance(std::chrono::seconds(2));
  ASSERT_TRUE(first->replied);
  EXPECT_EQ(Results(first).status(), NFS4_OK);
  EXPECT_EQ(send_raw(client, args, PUTROOTFH4args{}, directory)->reply_octets, first->reply_octets);
}

TEST_F(NfsSessionTest, OperationsAreCheckedForTheirPlace) {
  TestClient client = connect();
  EXPECT_EQ(raw(client, PUTROOTFH4args{}).status(), NFS4ERR_OP_NOT_IN_SESSION);
  EXPECT_EQ(raw(client, exchange_id(client), PUTROOTFH4args{}).status(), NFS4ERR_NOT_ONLY_OP);
  EXPECT_EQ(run(client, sequence(client, 1)).status(), NFS4ERR_SEQUENCE_POS);
  BIND_CONN_TO_SESSION4args bind;
  bind.bctsa_sessid = client.sessionid;
  EXPECT_EQ(run(client, bind).status(), NFS4ERR_NOT_ONLY_OP);
  EXPECT_EQ(raw(client).status(), NFS4_OK) << "no operations at all";
}

TEST_F(NfsSessionTest, OtherMinorVersionsAreRefused) {
  TestClient client = connect();
  for (const std::uint32_t minor : {0U, 2U}) {
    Results results(deliver(client, encode_compound(minor, sequence(client, 1))));
    EXPECT_EQ(results.status(), NFS4ERR_MINOR_VERS_MISMATCH);
    EXPECT_EQ(results.count(), 0U);
  }
}

struct NumberOnly {
  static void fields(auto&, auto&) {}
};
template <nfs_opnum4 Number>
struct Unsupported : NumberOnly {
  static constexpr nfs_opnum4 opnum = Number;
};

TEST_F(NfsSessionTest, UnknownAndUnsupportedOperations) {
  TestClient client = connect();
  Results illegal = run(client, Unsupported<static_cast<nfs_opnum4>(9999)>{});
  EXPECT_EQ(illegal.status(), NFS4ERR_OP_ILLEGAL);
  EXPECT_EQ(illegal.decoder().u32("resop"), OP_ILLEGAL);
  EXPECT_EQ(run(client, Unsupported<OP_OPENATTR>{}).status(), NFS4ERR_NOTSUPP);
  EXPECT_EQ(run(client, Unsupported<OP_LAYOUTGET>{}).status(), NFS4ERR_NOTSUPP);
  EXPECT_EQ(run(client, Unsupported<OP_SETCLIENTID>{}).status(), NFS4ERR_NOTSUPP);
}

TEST_F(NfsSessionTest, TruncatedArgumentsAreBadXdr) {
  TestClient client = connect();
  Results results = run(client, PUTROOTFH4args{}, Unsupported<OP_LOOKUP>{});
  EXPECT_EQ(results.status(), NFS4ERR_BADXDR);
  EXPECT_EQ(results.count(), 3U);
}

TEST_F(NfsSessionTest, AnUndecodableHeaderIsGarbage) {
  TestClient client = connect();
  const auto call = deliver(client, Octets(6));
  EXPECT_EQ(call->accept, rpc::AcceptStat::garbage_args);
}

// E-8881-10, E-8881-15: the data counts as part of the reply.
TEST_F(NfsSessionTest, RepliesStayWithinTheSessionsLimits) {
  config.channel.max_response_size = 2000;
  config.channel.max_response_size_cached = 600;
  write_file("file", std::string(4000, 'x'));
  TestClient client = connect();
  const nfs_fh4 file = lookup(client, root(client), "file");
  const auto read = [](count4 count) { return READ4args{kAnonymousStateid, 0, count}; };
  EXPECT_EQ(status_on(client, file, read(1500)), NFS4_OK);
  EXPECT_EQ(status_on(client, file, read(2000)), NFS4ERR_REP_TOO_BIG);
  EXPECT_EQ(raw(client, sequence(client, 1, true), putfh(file), read(1500)).status(),
            NFS4ERR_REP_TOO_BIG_TO_CACHE);
}

TEST_F(NfsSessionTest, TooManyOperations) {
  config.channel.max_operations = 3;
  TestClient client = connect();
  EXPECT_EQ(raw(client, sequence(client), PUTROOTFH4args{}, GETFH4args{}, GETFH4args{}).status(),
            NFS4ERR_TOO_MANY_OPS);
}

TEST_F(NfsSessionTest, BackChannelPathIsReportedAndBoundAgain) {
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
TEST_F(NfsSessionTest, SlotsAreTakenBackOnceTheClientFollows) {
  TestClient client = connect();
  service->set_target_slots(2, true);
  ASSERT_EQ(client.connection->callbacks.size(), 1U);
  xdr::Decoder recall(client.connection->callbacks.front().arguments);
  CB_COMPOUND4args_header header;
  decode(recall, header);
  EXPECT_EQ(recall.u32("op"), OP_CB_SEQUENCE);
  CB_SEQUENCE4args cb_sequence;
  decode(recall, cb_sequence);
  EXPECT_EQ(cb_sequence.csa_sequenceid, 1U);
  EXPECT_EQ(recall.u32("op"), OP_CB_RECALL_SLOT);
  CB_RECALL_SLOT4args args;
  decode(recall, args);
  EXPECT_EQ(args.rsa_target_highest_slotid, 1U);

  SEQUENCE4args high = sequence(client);
  high.sa_highest_slotid = 9;
  const auto before = sequence_alone(client, high).sr_resok4;
  EXPECT_EQ(before.sr_target_highest_slotid, 1U);
  EXPECT_EQ(before.sr_highest_slotid, 9U);
  const auto after = sequence_alone(client, sequence(client)).sr_resok4;
  EXPECT_EQ(after.sr_highest_slotid, 1U);
  EXPECT_EQ(sequence_alone(client, sequence(client, 2)).sr_status, NFS4ERR_BADSLOT);
}

TEST_F(NfsSessionTest, SessionsAndClientIdsAreDestroyed) {
  TestClient client = connect();
  DESTROY_CLIENTID4args destroy_client{client.clientid};
  EXPECT_EQ(raw(client, destroy_client).status(), NFS4ERR_CLIENTID_BUSY);
  const DESTROY_SESSION4args destroy_session{client.sessionid};
  EXPECT_EQ(raw(client, destroy_session).status(), NFS4_OK);
  EXPECT_EQ(raw(client, destroy_session).status(), NFS4ERR_BADSESSION);
  EXPECT_EQ(raw(client, destroy_client).status(), NFS4_OK);
  EXPECT_EQ(raw(client, destroy_client).status(), NFS4ERR_STALE_CLIENTID);
}

TEST_F(NfsSessionTest, ASessionMayEndItself) {
  TestClient client = connect();
  const DESTROY_SESSION4args destroy{client.sessionid};
  EXPECT_EQ(run(client, destroy, PUTROOTFH4args{}).status(), NFS4ERR_NOT_ONLY_OP);
  EXPECT_EQ(run(client, destroy).status(), NFS4_OK);
  EXPECT_EQ(raw(client, sequence(client)).status(), NFS4ERR_BADSESSION);
  EXPECT_EQ(raw(client, DESTROY_CLIENTID4args{client.clientid}).status(), NFS4_OK);
}

TEST_F(NfsSessionTest, ARequestThatEndsItsOwnClientGoesNoFurther) {
  TestClient client = connect();
  TestClient restarted = another(client.owner);
  restarted.verifier.fill(std::byte{7});
  restarted.clientid = exchange(restarted).eir_resok4.eir_clientid;
  const Results results = run(client, create_session(restarted, 1), PUTROOTFH4args{});
  EXPECT_EQ(results.status(), NFS4ERR_DEADSESSION);
  EXPECT_EQ(results.count(), 3U);
}

TEST_F(NfsSessionTest, ReclaimCompleteComesOnce) {
  TestClient client = connect();
  EXPECT_EQ(run(client, RECLAIM_COMPLETE4args{}).status(), NFS4ERR_COMPLETE_ALREADY);
}

TEST_F(NfsSessionTest, ALeaseIsRenewedByRequestsAndExpiresWithoutThem) {
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

}  // namespace nfsrdma::responder::test
