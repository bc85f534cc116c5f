// Attributes that others see of a file under a write delegation: RFC 8881 section 10.4.3.
#include "tests/responder/nfs_test_support.h"

namespace nfsrdma::responder::test {

using namespace nfs4;
using std::chrono::milliseconds;
using std::chrono::seconds;

class NfsDelegationTest : public NfsTest {
 protected:
  static constexpr unsigned kLease = 20;

  void SetUp() override {
    config.delegations = DelegationKind::write;
    config.lease_seconds = kLease;
    holder = connect("holder");
    other = connect("other");
    const Opened opened =
        open(holder, creating(open_args("file", OPEN4_SHARE_ACCESS_BOTH), GUARDED4));
    ASSERT_EQ(opened.status, NFS4_OK);
    ASSERT_EQ(opened.ok.delegation.delegation_type, OPEN_DELEGATE_WRITE);
    file = opened.handle;
    directory = root(other);
  }

  /// The request of a client that has only the name; the next, of one that has the file.
  nfsstat4 look_up() {
    return run(other, putfh(directory), LOOKUP4args{"file"}, GETFH4args{}, size()).status();
  }
  nfsstat4 get_size() { return run(other, putfh(file), size()).status(); }
  static GETATTR4args size() { return GETATTR4args{{FATTR4_SIZE}}; }

  /// The holder answers its last callback.
  void answer_callback() {
    ASSERT_FALSE(holder.connection->callbacks.empty());
    const auto callback = std::move(holder.connection->callbacks.front());
    holder.connection->callbacks.pop_front();
    Attributes attributes;
    attributes.present = {FATTR4_CHANGE, FATTR4_SIZE};
    attributes.size = kSize;
    attributes.change = UINT64_MAX;
    const EncodedAttributes encoded(attributes);
    Bytes memory(4096);
    xdr::Encoder out(memory);
    encode_header(out, CB_COMPOUND4res_header{NFS4_OK, {}, 2});
    encode_operation(out, CB_SEQUENCE4res{});
    CB_GETATTR4res result;
    result.resok4.obj_attributes = encoded;
    encode_operation(out, result);
    callback.done(xdr::Decoder(out.encoded()));
  }
  /// One look of a client that comes again as soon as it may.
  void poll() {
    ASSERT_EQ(get_size(), NFS4ERR_DELAY);
    answer_callback();
    reactor.advance(milliseconds(100));
    ASSERT_EQ(get_size(), NFS4_OK);
  }

  static constexpr std::uint64_t kSize = 4711;
  TestClient holder;
  TestClient other;
  nfs_fh4 file;
  nfs_fh4 directory;
};

TEST_F(NfsDelegationTest, TheHolderIsAskedForEachLook) {
  poll();
  EXPECT_EQ(get_size(), NFS4ERR_DELAY) << "what it said before is old";
  answer_callback();
  EXPECT_EQ(getattr(other, file, {FATTR4_SIZE}).size, kSize);
}

// One that was put off for long comes again seldom; between its tries others ask, and use what the
// holder says.
TEST_F(NfsDelegationTest, OneThatComesSeldomIsServedBesideOneThatComesOften) {
  ASSERT_EQ(look_up(), NFS4ERR_DELAY);
  answer_callback();
  for (int second = 0; second < 15; ++second) {
    poll();
    reactor.advance(milliseconds(900));
  }
  EXPECT_EQ(look_up(), NFS4_OK);
  EXPECT_EQ(look_up(), NFS4ERR_DELAY) << "another look needs another answer";
}

TEST_F(NfsDelegationTest, EachOfSeveralAlikeIsServed) {
  ASSERT_EQ(get_size(), NFS4ERR_DELAY);
  ASSERT_EQ(look_up(), NFS4ERR_DELAY);
  answer_callback();
  EXPECT_EQ(look_up(), NFS4_OK);
  EXPECT_EQ(get_size(), NFS4_OK);
}

// A lock file, or the journal of a database: what is known of one file is of no use for the next.
TEST_F(NfsDelegationTest, ANameThatIsMadeAnewEachTimeIsLookedUpInTheEnd) {
  int tries = 1;
  for (; look_up() == NFS4ERR_DELAY && tries < 10; ++tries) {
    reactor.advance(seconds(1));
    ASSERT_EQ(run(holder, putfh(root(holder)), REMOVE4args{"file"}).status(), NFS4_OK);
    open(holder, creating(open_args("file", OPEN4_SHARE_ACCESS_BOTH), GUARDED4));
  }
  EXPECT_LT(tries, 10);
}

// As a client repeats a request that asks twice: whole.
TEST_F(NfsDelegationTest, ARequestThatAsksTwiceEnds) {
  const auto twice = [&] { return run(other, putfh(file), size(), size()).status(); };
  int tries = 1;
  for (; twice() == NFS4ERR_DELAY && tries < 10; ++tries) answer_callback();
  EXPECT_LT(tries, 10);
}

TEST_F(NfsDelegationTest, AHolderThatCannotBeAskedLosesItInALease) {
  service->on_connection_closed(*holder.connection);
  ASSERT_EQ(look_up(), NFS4ERR_DELAY);
  for (unsigned second = 0; second < kLease; ++second) {
    EXPECT_EQ(look_up(), NFS4ERR_DELAY) << second;
    EXPECT_EQ(run(holder).status(), NFS4_OK) << "its lease goes on";
    reactor.advance(seconds(1));
  }
  EXPECT_EQ(look_up(), NFS4_OK);
  const auto result = sequence_alone(holder, sequence(holder));
  EXPECT_NE(result.sr_resok4.sr_status_flags & SEQ4_STATUS_RECALLABLE_STATE_REVOKED, 0U);
}

// As Linux knfsd: what the OPEN wants is looked at before what it claims.
TEST_F(NfsDelegationTest, AReclaimThatWantsNoneGetsNone) {
  service->restart(/*grace_seconds=*/60);
  holder = connect("holder", false);
  OPEN4args args = open_args("", OPEN4_SHARE_ACCESS_BOTH);
  args.claim.claim = CLAIM_PREVIOUS;
  args.claim.delegate_type = OPEN_DELEGATE_WRITE;
  args.share_access |= OPEN4_SHARE_ACCESS_WANT_NO_DELEG;
  const auto declined = on<OPEN4res>(holder, file, args);
  ASSERT_EQ(declined.status, NFS4_OK);
  EXPECT_EQ(declined.resok4.delegation.delegation_type, OPEN_DELEGATE_NONE_EXT);
  args.share_access = OPEN4_SHARE_ACCESS_BOTH;
  const auto reclaimed = on<OPEN4res>(holder, file, args);
  ASSERT_EQ(reclaimed.status, NFS4_OK);
  EXPECT_EQ(reclaimed.resok4.delegation.delegation_type, OPEN_DELEGATE_WRITE);
}

}  // namespace nfsrdma::responder::test
