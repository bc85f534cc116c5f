// SEQUENCE, slots and their reply cache, COMPOUND: RFC 8881 sections 2.10.6, 16.2 and 18.46.
#include "tests/responder/nfs_test_support.h"

namespace nfsrdma::responder::test {

using namespace nfs4;

using NfsSlotTest = NfsTest;

TEST_F(NfsSlotTest, SequenceTellsSlotsAndTargets) {
  TestClient client = connect();
  const auto result = sequence_alone(client, sequence(client));
  EXPECT_EQ(result.sr_resok4.sr_sessionid, client.sessionid);
  EXPECT_EQ(result.sr_resok4.sr_highest_slotid, 15U);
  EXPECT_EQ(result.sr_resok4.sr_target_highest_slotid, 15U);
  EXPECT_EQ(result.sr_resok4.sr_status_flags, 0U);
}

TEST_F(NfsSlotTest, SequenceRefusesWhatIsOutOfOrder) {
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

TEST_F(NfsSlotTest, ASequenceIdOfANeverUsedSlotIsMisordered) {
  TestClient client = connect();
  SEQUENCE4args args = sequence(client, 3);
  args.sa_sequenceid = 0;
  EXPECT_EQ(sequence_alone(client, args).sr_status, NFS4ERR_SEQ_MISORDERED);
}

TEST_F(NfsSlotTest, ACachedRequestIsReplayedAndNotExecutedAgain) {
  TestClient client = connect();
  const SEQUENCE4args cached = sequence(client, 1, true);
  CREATE4args directory;
  directory.objtype.type = NF4DIR;
  directory.objname = "made-once";
  const auto first = send_raw(client, cached, PUTROOTFH4args{}, directory);
  EXPECT_EQ(Results(first).status(), NFS4_OK);
  const auto second = send_raw(client, cached, PUTROOTFH4args{}, directory);
  EXPECT_EQ(second->reply_bytes, first->reply_bytes);
}

TEST_F(NfsSlotTest, AReplayContainsTheDataOfRead) {
  write_file("file", "payload!!");
  TestClient client = connect();
  const nfs_fh4 file = lookup(client, root(client), "file");
  const SEQUENCE4args cached = sequence(client, 1, true);
  const READ4args read{kAnonymousStateid, 0, 100};
  const auto first = send_raw(client, cached, putfh(file), read, GETFH4args{});
  EXPECT_EQ(Results(first).status(), NFS4_OK);
  write_file("file", "different");
  const auto second = send_raw(client, cached, putfh(file), read, GETFH4args{});
  EXPECT_EQ(second->reply_bytes, first->reply_bytes);
}

TEST_F(NfsSlotTest, AnUncachedRequestIsNotExecutedAgain) {
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

TEST_F(NfsSlotTest, SequenceAloneIsAlwaysReplayed) {
  TestClient client = connect();
  const SEQUENCE4args args = sequence(client);
  const auto first = send_raw(client, args);
  EXPECT_EQ(send_raw(client, args)->reply_bytes, first->reply_bytes);
}

TEST_F(NfsSlotTest, AnotherRequestUnderAUsedSequenceIdIsAFalseRetry) {
  TestClient client = connect();
  const SEQUENCE4args args = sequence(client, 0, true);
  EXPECT_EQ(raw(client, args, PUTROOTFH4args{}).status(), NFS4_OK);
  EXPECT_EQ(raw(client, args, PUTROOTFH4args{}, GETFH4args{}).status(), NFS4ERR_SEQ_FALSE_RETRY);
}

TEST_F(NfsSlotTest, ARetryOfARequestInProgressIsDelayed) {
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
  EXPECT_EQ(send_raw(client, args, PUTROOTFH4args{}, directory)->reply_bytes, first->reply_bytes);
}

TEST_F(NfsSlotTest, OperationsAreCheckedForTheirPlace) {
  TestClient client = connect();
  EXPECT_EQ(raw(client, PUTROOTFH4args{}).status(), NFS4ERR_OP_NOT_IN_SESSION);
  EXPECT_EQ(raw(client, exchange_id(client), PUTROOTFH4args{}).status(), NFS4ERR_NOT_ONLY_OP);
  EXPECT_EQ(run(client, sequence(client, 1)).status(), NFS4ERR_SEQUENCE_POS);
  BIND_CONN_TO_SESSION4args bind;
  bind.bctsa_sessid = client.sessionid;
  EXPECT_EQ(run(client, bind).status(), NFS4ERR_NOT_ONLY_OP);
  EXPECT_EQ(raw(client).status(), NFS4_OK) << "no operations at all";
}

TEST_F(NfsSlotTest, OtherMinorVersionsAreRefused) {
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

TEST_F(NfsSlotTest, UnknownAndUnsupportedOperations) {
  TestClient client = connect();
  Results illegal = run(client, Unsupported<static_cast<nfs_opnum4>(9999)>{});
  EXPECT_EQ(illegal.status(), NFS4ERR_OP_ILLEGAL);
  EXPECT_EQ(illegal.decoder().u32("resop"), OP_ILLEGAL);
  EXPECT_EQ(run(client, Unsupported<OP_OPENATTR>{}).status(), NFS4ERR_NOTSUPP);
  EXPECT_EQ(run(client, Unsupported<OP_LAYOUTGET>{}).status(), NFS4ERR_NOTSUPP);
  EXPECT_EQ(run(client, Unsupported<OP_SETCLIENTID>{}).status(), NFS4ERR_NOTSUPP);
}

TEST_F(NfsSlotTest, TruncatedArgumentsAreBadXdr) {
  TestClient client = connect();
  Results results = run(client, PUTROOTFH4args{}, Unsupported<OP_LOOKUP>{});
  EXPECT_EQ(results.status(), NFS4ERR_BADXDR);
  EXPECT_EQ(results.count(), 3U);
}

TEST_F(NfsSlotTest, AnUndecodableHeaderIsGarbage) {
  TestClient client = connect();
  const auto call = deliver(client, Bytes(6));
  EXPECT_EQ(call->accept, rpc::AcceptStat::garbage_args);
}

TEST_F(NfsSlotTest, RepliesStayWithinTheSessionsLimits) {
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

TEST_F(NfsSlotTest, TooManyOperations) {
  config.channel.max_operations = 3;
  TestClient client = connect();
  EXPECT_EQ(raw(client, sequence(client), PUTROOTFH4args{}, GETFH4args{}, GETFH4args{}).status(),
            NFS4ERR_TOO_MANY_OPS);
}

TEST_F(NfsSlotTest, SlotsAreTakenBackOnceTheClientFollows) {
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

// RFC 8881 section 2.10.6.4: refused before the request is one of the slot's.
TEST_F(NfsSlotTest, ASequenceWhoseOwnResultDoesNotFitTheCacheIsRefused) {
  config.channel.max_response_size_cached = 10;
  TestClient client = connect();
  const SEQUENCE4args args = sequence(client, 0, true);
  EXPECT_EQ(sequence_alone(client, args).sr_status, NFS4ERR_REP_TOO_BIG_TO_CACHE);
  SEQUENCE4args again = args;
  again.sa_cachethis = false;
  EXPECT_EQ(sequence_alone(client, again).sr_status, NFS4_OK) << "the number is not used up";
}

TEST_F(NfsSlotTest, ARequestAboveTheSessionsLimitIsRefused) {
  config.channel.max_request_size = 512;
  TestClient client = connect();
  const std::string name(250, 'n');
  const auto names = [&](auto... each) {
    return raw(client, sequence(client), PUTROOTFH4args{}, each...).status();
  };
  EXPECT_EQ(names(LOOKUP4args{name}), NFS4ERR_NOENT);
  EXPECT_EQ(names(LOOKUP4args{name}, LOOKUP4args{name}), NFS4ERR_REQ_TOO_BIG);
}

}  // namespace nfsrdma::responder::test
