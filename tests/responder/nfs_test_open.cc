// OPEN, CLOSE, OPEN_DOWNGRADE: RFC 8881 sections 9.7 to 9.10, 18.2, 18.16, 18.18.
#include <sys/stat.h>
#include <unistd.h>

#include "tests/responder/nfs_test_support.h"

namespace nfsrdma::responder::test {

using namespace nfs4;

namespace {

constexpr auto kRead = OPEN4_SHARE_ACCESS_READ;
constexpr auto kWrite = OPEN4_SHARE_ACCESS_WRITE;
constexpr auto kBoth = OPEN4_SHARE_ACCESS_BOTH;

}  // namespace

class NfsOpenTest : public NfsTest {
 protected:
  void SetUp() override { client = connect(); }

  static verifier4 verifier(int fill) {
    verifier4 value;
    value.fill(static_cast<std::byte>(fill));
    return value;
  }
  OPEN4args exclusive(std::string_view name, createmode4 mode, int fill) {
    OPEN4args args = creating(open_args(name, kBoth), mode);
    args.openhow.how.createverf = verifier(fill);
    args.openhow.how.ch_createboth.cva_verf = verifier(fill);
    return args;
  }
  OPEN4args by_handle(std::uint32_t access, open_claim_type4 claim = CLAIM_FH) {
    OPEN4args args = open_args("", access);
    args.claim.claim = claim;
    return args;
  }
  nfsstat4 close(const Opened& opened) {
    return status_on(client, opened.handle, CLOSE4args{0, opened.stateid});
  }
  nfsstat4 read_status(const Opened& opened) {
    return status_on(client, opened.handle, READ4args{opened.stateid, 0, 10});
  }
  nfsstat4 write_status(const Opened& opened) {
    WRITE4args args;
    args.stateid = opened.stateid;
    args.data.data = bytes_of("data");
    return status_on(client, opened.handle, args);
  }

  TestClient client;
};

TEST_F(NfsOpenTest, OpensWhatIsThere) {
  write_file("file", "x");
  const Opened opened = open(client, open_args("file", kRead));
  EXPECT_EQ(opened.status, NFS4_OK);
  EXPECT_EQ(opened.stateid.seqid, 1U);
  EXPECT_EQ(opened.ok.delegation.delegation_type, OPEN_DELEGATE_NONE);
  EXPECT_EQ(read_status(opened), NFS4_OK);
  EXPECT_EQ(write_status(opened), NFS4ERR_OPENMODE);
  EXPECT_EQ(close(opened), NFS4_OK);
  EXPECT_EQ(read_status(opened), NFS4ERR_BAD_STATEID);
}

TEST_F(NfsOpenTest, RefusesWhatIsNoFile) {
  ASSERT_EQ(::mkdir(path("directory").c_str(), 0755), 0);
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0644), 0);
  EXPECT_EQ(open(client, open_args("absent", kRead)).status, NFS4ERR_NOENT);
  EXPECT_EQ(open(client, open_args("directory", kRead)).status, NFS4ERR_ISDIR);
  EXPECT_EQ(open(client, open_args("fifo", kRead)).status, NFS4ERR_WRONG_TYPE);
  EXPECT_EQ(open(client, open_args("..", kRead)).status, NFS4ERR_BADNAME);
}

TEST_F(NfsOpenTest, RefusesBadArguments) {
  write_file("file", "x");
  EXPECT_EQ(open(client, open_args("file", 0)).status, NFS4ERR_INVAL);
  EXPECT_EQ(open(client, open_args("file", 0x40)).status, NFS4ERR_INVAL);
  EXPECT_EQ(open(client, open_args("file", kRead, 4)).status, NFS4ERR_INVAL);
  EXPECT_EQ(open(client, creating(by_handle(kRead), UNCHECKED4)).status, NFS4ERR_INVAL);
  EXPECT_EQ(open(client, by_handle(kRead, CLAIM_DELEG_PREV_FH)).status, NFS4ERR_NOTSUPP);
}

TEST_F(NfsOpenTest, UncheckedCreatesOrTruncates) {
  Attributes attributes;
  attributes.present = {FATTR4_SIZE, FATTR4_MODE};
  attributes.mode = 0604;
  const EncodedAttributes encoded(attributes);
  const OPEN4args args = creating(open_args("file", kBoth), UNCHECKED4, encoded);
  const Opened created = open(client, args);
  ASSERT_EQ(created.status, NFS4_OK);
  EXPECT_EQ(created.ok.attrset, attributes.present);
  EXPECT_GT(created.ok.cinfo.after, created.ok.cinfo.before);
  struct stat stat = {};
  ASSERT_EQ(::stat(path("file").c_str(), &stat), 0);
  EXPECT_EQ(stat.st_mode & 07777U, 0604U);
  EXPECT_EQ(write_status(created), NFS4_OK);

  const Opened truncated = open(client, args);
  EXPECT_EQ(truncated.status, NFS4_OK);
  EXPECT_EQ(truncated.ok.cinfo.after, truncated.ok.cinfo.before);
  EXPECT_EQ(truncated.ok.attrset, bitmap4{FATTR4_SIZE});
  EXPECT_EQ(read_file("file"), "");

  write_file("file", "kept");
  EXPECT_EQ(open(client, creating(open_args("file", kBoth), UNCHECKED4)).status, NFS4_OK);
  EXPECT_EQ(read_file("file"), "kept");
}

TEST_F(NfsOpenTest, GuardedCreatesOnlyWhatIsNotThere) {
  const OPEN4args args = creating(open_args("file", kBoth), GUARDED4);
  EXPECT_EQ(open(client, args).status, NFS4_OK);
  EXPECT_EQ(open(client, args).status, NFS4ERR_EXIST);
}

TEST_F(NfsOpenTest, ExclusiveCreateIsRepeatableByItsVerifier) {
  for (const createmode4 mode : {EXCLUSIVE4, EXCLUSIVE4_1}) {
    const std::string name = mode == EXCLUSIVE4 ? "old" : "new";
    const Opened first = open(client, exclusive(name, mode, 1));
    ASSERT_EQ(first.status, NFS4_OK);
    const Opened retried = open(client, exclusive(name, mode, 1));
    EXPECT_EQ(retried.status, NFS4_OK);
    EXPECT_EQ(retried.handle, first.handle);
    EXPECT_EQ(open(client, exclusive(name, mode, 2)).status, NFS4ERR_EXIST);
  }
}

class NfsVerifierInTimesTest : public NfsOpenTest {
 protected:
  NfsVerifierInTimesTest() { config.verifier_in_times = true; }
};

TEST_F(NfsVerifierInTimesTest, TellsThatTheTimesHoldIt) {
  const Opened first = open(client, exclusive("file", EXCLUSIVE4_1, 1));
  ASSERT_EQ(first.status, NFS4_OK);
  EXPECT_EQ(first.ok.attrset, (bitmap4{FATTR4_TIME_ACCESS, FATTR4_TIME_MODIFY}));
  EXPECT_EQ(getattr(client, first.handle, {FATTR4_TIME_MODIFY}).time_modify.seconds, 0x01010101);
  EXPECT_EQ(open(client, exclusive("file", EXCLUSIVE4_1, 1)).status, NFS4_OK);
  EXPECT_EQ(open(client, exclusive("file", EXCLUSIVE4_1, 2)).status, NFS4ERR_EXIST);
}

TEST_F(NfsOpenTest, ExclusiveCreateSetsAttributesAtOnce) {
  Attributes attributes;
  attributes.present = {FATTR4_MODE, FATTR4_TIME_MODIFY_SET};
  attributes.mode = 0400;
  attributes.time_modify_set = {SET_TO_CLIENT_TIME4, {1234, 0}};
  const EncodedAttributes encoded(attributes);
  OPEN4args args = creating(open_args("file", kBoth), EXCLUSIVE4_1, encoded);
  const Opened created = open(client, args);
  ASSERT_EQ(created.status, NFS4_OK);
  EXPECT_EQ(created.ok.attrset, attributes.present);
  EXPECT_EQ(write_status(created), NFS4_OK) << "the mode is for later opens";
  const bitmap4 wanted{FATTR4_MODE};
  EXPECT_EQ(getattr(client, created.handle, wanted).mode, 0400U);
}

TEST_F(NfsOpenTest, CreationBelongsToTheCaller) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  ASSERT_EQ(::chmod(config.directory.c_str(), 0777), 0);
  client.credential = user(1000, 1001);
  ASSERT_EQ(open(client, creating(open_args("file", kBoth), GUARDED4)).status, NFS4_OK);
  struct stat stat = {};
  ASSERT_EQ(::stat(path("file").c_str(), &stat), 0);
  EXPECT_EQ(stat.st_uid, 1000U);
  EXPECT_EQ(stat.st_gid, 1001U);
  EXPECT_EQ(::geteuid(), 0U);
  ASSERT_EQ(::chmod(config.directory.c_str(), 0755), 0);
  EXPECT_EQ(open(client, creating(open_args("other", kBoth), GUARDED4)).status, NFS4ERR_ACCESS);
}

TEST_F(NfsOpenTest, PermissionsAreThoseOfTheCaller) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  write_file("file", "x");
  ASSERT_EQ(::chmod(config.directory.c_str(), 0755), 0);
  ASSERT_EQ(::chmod(path("file").c_str(), 0644), 0);
  client.credential = user(1000, 1000);
  const Opened reader = open(client, open_args("file", kRead));
  EXPECT_EQ(reader.status, NFS4_OK);
  EXPECT_EQ(open(client, open_args("file", kBoth)).status, NFS4ERR_ACCESS);
  // An open stays good whatever becomes of the mode.
  ASSERT_EQ(::chmod(path("file").c_str(), 0), 0);
  EXPECT_EQ(read_status(reader), NFS4_OK);
  EXPECT_EQ(open(client, open_args("file", kRead, 0, "other")).status, NFS4ERR_ACCESS);
  // A program without read permission must still be loaded.
  ASSERT_EQ(::chmod(path("file").c_str(), 0711), 0);
  EXPECT_EQ(open(client, open_args("file", kRead, 0, "third")).status, NFS4_OK);
}

TEST_F(NfsOpenTest, WritingByOthersClearsSetIdBits) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  write_file("file", "x");
  ASSERT_EQ(::chmod(config.directory.c_str(), 0755), 0);
  ASSERT_EQ(::chmod(path("file").c_str(), 04777), 0);
  client.credential = user(1000, 1000);
  const Opened opened = open(client, open_args("file", kWrite));
  ASSERT_EQ(write_status(opened), NFS4_OK);
  struct stat stat = {};
  ASSERT_EQ(::stat(path("file").c_str(), &stat), 0);
  EXPECT_EQ(stat.st_mode & 07777U, 0777U);
}

TEST_F(NfsOpenTest, ClaimFhOpensTheCurrentFile) {
  write_file("file", "x");
  const nfs_fh4 file = lookup(client, root(client), "file");
  const auto opened = on<OPEN4res>(client, file, by_handle(kRead));
  EXPECT_EQ(opened.status, NFS4_OK);
  EXPECT_EQ(read_status({NFS4_OK, opened.resok4.stateid, file, {}}), NFS4_OK);
}

TEST_F(NfsOpenTest, SameOwnerUpgradesAndOthersConflict) {
  write_file("file", "x");
  const Opened first = open(client, open_args("file", kRead, OPEN4_SHARE_DENY_WRITE));
  ASSERT_EQ(first.status, NFS4_OK);
  EXPECT_EQ(open(client, open_args("file", kWrite, 0, "other")).status, NFS4ERR_SHARE_DENIED);
  EXPECT_EQ(open(client, open_args("file", kRead, OPEN4_SHARE_DENY_READ, "other")).status,
            NFS4ERR_SHARE_DENIED);
  const Opened upgraded = open(client, open_args("file", kWrite));
  ASSERT_EQ(upgraded.status, NFS4_OK);
  EXPECT_EQ(upgraded.stateid.other, first.stateid.other);
  EXPECT_EQ(upgraded.stateid.seqid, 2U);
  EXPECT_EQ(read_status(upgraded), NFS4_OK);
  EXPECT_EQ(write_status(upgraded), NFS4_OK);
  EXPECT_EQ(read_status(first), NFS4ERR_OLD_STATEID);
  Opened any_seqid = first;
  any_seqid.stateid.seqid = 0;
  EXPECT_EQ(read_status(any_seqid), NFS4_OK);
  any_seqid.stateid.seqid = 9;
  EXPECT_EQ(read_status(any_seqid), NFS4ERR_BAD_STATEID);
}

TEST_F(NfsOpenTest, DowngradeGoesBackToWhatWasOpened) {
  write_file("file", "x");
  ASSERT_EQ(open(client, open_args("file", kRead)).status, NFS4_OK);
  Opened opened = open(client, open_args("file", kWrite, OPEN4_SHARE_DENY_READ));
  ASSERT_EQ(opened.status, NFS4_OK);
  const auto downgrade = [&](std::uint32_t access, std::uint32_t deny) {
    return on<OPEN_DOWNGRADE4res>(client, opened.handle,
                                  OPEN_DOWNGRADE4args{opened.stateid, 0, access, deny});
  };
  EXPECT_EQ(downgrade(0, 0).status, NFS4ERR_INVAL);
  EXPECT_EQ(downgrade(kBoth, OPEN4_SHARE_DENY_WRITE).status, NFS4ERR_INVAL);
  const auto done = downgrade(kRead, 0);
  ASSERT_EQ(done.status, NFS4_OK);
  opened.stateid = done.resok4.open_stateid;
  EXPECT_EQ(opened.stateid.seqid, 3U);
  EXPECT_EQ(read_status(opened), NFS4_OK);
  EXPECT_EQ(write_status(opened), NFS4ERR_OPENMODE);
  EXPECT_EQ(open(client, open_args("file", kRead, 0, "other")).status, NFS4_OK);
  EXPECT_EQ(downgrade(kBoth, 0).status, NFS4ERR_INVAL);
}

TEST_F(NfsOpenTest, DeniedShareAlsoKeepsOutReadsWithoutAnOpen) {
  write_file("file", "x");
  const Opened opened = open(client, open_args("file", kRead, OPEN4_SHARE_DENY_BOTH));
  const auto special = [&](const stateid4& stateid) {
    return status_on(client, opened.handle, READ4args{stateid, 0, 1});
  };
  EXPECT_EQ(special(kAnonymousStateid), NFS4ERR_LOCKED);
  EXPECT_EQ(special(kReadBypassStateid), NFS4_OK);
  EXPECT_EQ(special({7, {}}), NFS4ERR_BAD_STATEID);
}

TEST_F(NfsOpenTest, AnUnlinkedFileStaysUntilItIsClosed) {
  write_file("file", "still here");
  const Opened opened = open(client, open_args("file", kRead));
  ASSERT_EQ(status_on(client, root(client), REMOVE4args{"file"}), NFS4_OK);
  EXPECT_EQ(read_status(opened), NFS4_OK);
  EXPECT_EQ(getattr(client, opened.handle, {FATTR4_NUMLINKS}).numlinks, 0U);
  EXPECT_EQ(close(opened), NFS4_OK);
  EXPECT_EQ(status_on(client, opened.handle, GETATTR4args{{FATTR4_SIZE}}), NFS4ERR_STALE);
}

TEST_F(NfsOpenTest, TheCurrentStateidIsTheOneJustMade) {
  write_file("file", "content");
  Results results = run(client, PUTROOTFH4args{}, open_args("file", kRead),
                        READ4args{kCurrentStateid, 0, 7}, CLOSE4args{0, kCurrentStateid});
  EXPECT_EQ(results.status(), NFS4_OK);
  results.skip<PUTROOTFH4res>();
  results.skip<OPEN4res>();
  EXPECT_EQ(text_of(results.next<READ4res>().resok4.data.data), "content");
  EXPECT_EQ(status_on(client, root(client), CLOSE4args{0, kCurrentStateid}), NFS4ERR_BAD_STATEID);
}

TEST_F(NfsOpenTest, AStateidIsGoodForItsFileAndClientOnly) {
  write_file("file", "x");
  write_file("other", "x");
  const Opened opened = open(client, open_args("file", kRead));
  Opened mixed = open(client, open_args("other", kRead));
  mixed.stateid = opened.stateid;
  EXPECT_EQ(read_status(mixed), NFS4ERR_BAD_STATEID);
  TestClient stranger = connect("client-2");
  EXPECT_EQ(status_on(stranger, opened.handle, READ4args{opened.stateid, 0, 1}),
            NFS4ERR_BAD_STATEID);
}

TEST_F(NfsOpenTest, DelegationsAreNotGivenAndSaidWhy) {
  write_file("file", "x");
  const auto none =
      open(client, open_args("file", kRead | OPEN4_SHARE_ACCESS_WANT_NO_DELEG)).ok.delegation;
  EXPECT_EQ(none.delegation_type, OPEN_DELEGATE_NONE_EXT);
  EXPECT_EQ(none.od_whynone.ond_why, WND4_NOT_WANTED);
  const auto wanted =
      open(client, open_args("file", kRead | OPEN4_SHARE_ACCESS_WANT_READ_DELEG)).ok.delegation;
  EXPECT_EQ(wanted.od_whynone.ond_why, WND4_RESOURCE);
}

TEST_F(NfsOpenTest, NothingIsOpenedBeforeReclaimComplete) {
  write_file("file", "x");
  TestClient early = connect("client-2", false);
  EXPECT_EQ(open(early, open_args("file", kRead)).status, NFS4ERR_GRACE);
  EXPECT_EQ(run(early, RECLAIM_COMPLETE4args{}).status(), NFS4_OK);
  EXPECT_EQ(open(early, open_args("file", kRead)).status, NFS4_OK);
}

}  // namespace nfsrdma::responder::test
