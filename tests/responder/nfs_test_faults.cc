// Effects of a fault script and the control socket on the service: its reply cache, unstable data,
// callbacks, grace and leases.
#include "client/proto/ops_session.h"
#include "tests/responder/nfs_test_support.h"

namespace nfsrdma::responder::test {

using namespace nfs4;

class NfsFaultTest : public NfsTest {
 protected:
  /// As FakeConnection's calls, with faults of the script.
  template <class... Args>
  std::shared_ptr<FakeCall> with(const ServiceFaults& faults, TestClient& client,
                                 const Args&... operations) {
    next_faults = faults;
    auto call = send_raw(client, operations...);
    next_faults = {};
    return call;
  }
  WRITE4res write(TestClient& client, const nfs_fh4& file, std::uint64_t offset,
                  std::string_view text, const ServiceFaults& faults, stable_how4 how = UNSTABLE4) {
    WRITE4args args;
    args.stateid = kAnonymousStateid;
    args.offset = offset;
    args.stable = how;
    args.data.data = bytes_of(text);
    Results results(with(faults, client, sequence(client), putfh(file), args));
    results.skip<SEQUENCE4res>();
    results.skip<PUTFH4res>();
    return results.next<WRITE4res>();
  }
  static constexpr ServiceFaults kLost{.unstable_lost = true};
};

TEST_F(NfsFaultTest, UncommittedWritesAreLostByARestart) {
  write_file("file", "0123456789");
  TestClient client = connect();
  const nfs_fh4 file = lookup(client, root(client), "file");
  const auto before = write(client, file, 2, "AB", kLost).resok4.writeverf;
  write(client, file, 3, "CD", kLost);
  write(client, file, 9, "longer", kLost);
  EXPECT_EQ(read_file("file"), "01ACD5678longer");
  service->restart();
  EXPECT_EQ(read_file("file"), "0123456789");
  TestClient again = connect("client-2");
  EXPECT_NE(write(again, lookup(again, root(again), "file"), 0, "x", {}).resok4.writeverf, before);
}

TEST_F(NfsFaultTest, ATruncationAfterAnUncommittedWriteSurvives) {
  write_file("file", "0123456789");
  TestClient client = connect();
  const nfs_fh4 file = lookup(client, root(client), "file");
  write(client, file, 2, "AB", kLost);
  write(client, file, 8, "longer", kLost);
  Attributes cut;
  cut.present = {FATTR4_SIZE};
  cut.size = 3;
  const EncodedAttributes encoded(cut);
  EXPECT_EQ(status_on(client, file, SETATTR4args{kAnonymousStateid, encoded}), NFS4_OK);
  service->restart();
  EXPECT_EQ(read_file("file"), "012");
}

TEST_F(NfsFaultTest, CommittedAndStableWritesSurvive) {
  write_file("one", "0123456789");
  write_file("other", "0123456789");
  TestClient client = connect();
  const nfs_fh4 one = lookup(client, root(client), "one");
  const nfs_fh4 other = lookup(client, root(client), "other");
  write(client, one, 0, "AB", kLost);
  EXPECT_EQ(status_on(client, one, COMMIT4args{}), NFS4_OK);
  write(client, other, 0, "AB", kLost, FILE_SYNC4);
  write(client, other, 5, "Z", {});
  service->restart();
  EXPECT_EQ(read_file("one"), "AB23456789");
  EXPECT_EQ(read_file("other"), "AB234Z6789");
}

TEST_F(NfsFaultTest, ReplyThatIsNotKeptIsNotReplayed) {
  TestClient client = connect();
  const SEQUENCE4args cached = sequence(client, 1, true);
  with({.reply_cache = ReplyCache::lost}, client, cached, PUTROOTFH4args{});
  EXPECT_EQ(raw(client, cached, PUTROOTFH4args{}).status(), NFS4ERR_RETRY_UNCACHED_REP);
}

TEST_F(NfsFaultTest, ReplyThatIsGarbageIsReplayedAsSuch) {
  TestClient client = connect();
  const SEQUENCE4args cached = sequence(client, 1, true);
  const auto first = with({.reply_cache = ReplyCache::garbage}, client, cached, PUTROOTFH4args{});
  const auto second = send_raw(client, cached, PUTROOTFH4args{});
  ASSERT_TRUE(second->replied);
  EXPECT_EQ(second->reply_bytes.size(), first->reply_bytes.size());
  EXPECT_NE(second->reply_bytes, first->reply_bytes);
}

TEST_F(NfsFaultTest, CallbacksThatBreakTheRulesGoOutTogether) {
  TestClient client = connect();
  EXPECT_FALSE(service->send_callbacks("no-such-callback", 1, SIZE_MAX));
  EXPECT_EQ(service->send_callbacks("another-session", 3, SIZE_MAX), 3U);
  ASSERT_EQ(client.connection->callbacks.size(), 3U);
  EXPECT_EQ(service->send_callbacks("CB_RECALL-of-nothing", 1, 40), 1U);
  EXPECT_EQ(client.connection->callbacks.back().target.cut, 40U);
  EXPECT_EQ(NfsService::callback_names().size(), 28U);
}

TEST_F(NfsFaultTest, GraceEndsBeforeItsTime) {
  config.grace_seconds = 60;
  start();
  write_file("file", "text");
  TestClient client = connect();
  EXPECT_EQ(open(client, open_args("file", OPEN4_SHARE_ACCESS_READ)).status, NFS4ERR_GRACE);
  service->end_grace();
  EXPECT_EQ(open(client, open_args("file", OPEN4_SHARE_ACCESS_READ)).status, NFS4_OK);
}

TEST_F(NfsFaultTest, EveryLeaseIsOver) {
  TestClient client = connect();
  EXPECT_EQ(service->expire_clients(), 1U);
  EXPECT_EQ(sequence_alone(client, sequence(client)).sr_status, NFS4ERR_BADSESSION);
}

}  // namespace nfsrdma::responder::test
