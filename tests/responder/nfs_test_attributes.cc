// GETATTR, SETATTR, VERIFY, NVERIFY, ACCESS: RFC 8881 sections 5, 18.1, 18.7, 18.15, 18.30, 18.31.
#include <sys/stat.h>
#include <unistd.h>

#include "tests/responder/nfs_test_support.h"

namespace nfsrdma::responder::test {

using namespace nfs4;

class NfsAttributesTest : public NfsTest {
 protected:
  void SetUp() override {
    write_file("file", "12345");
    client = connect();
    file = lookup(client, root(client), "file");
  }
  SETATTR4res setattr(const Attributes& change, const stateid4& stateid = kAnonymousStateid) {
    const EncodedAttributes encoded(change);
    return on<SETATTR4res>(client, file, SETATTR4args{stateid, encoded});
  }
  struct stat stat_file() {
    struct stat stat = {};
    EXPECT_EQ(::stat(path("file").c_str(), &stat), 0);
    return stat;
  }
  std::uint32_t access_as(const rpc::Credential& who, const nfs_fh4& object) {
    client.credential = who;
    const auto result = on<ACCESS4res>(client, object, ACCESS4args{kAllAccess});
    client.credential = {};
    return result.resok4.access;
  }
  static constexpr std::uint32_t kAllAccess = 0x3f;

  TestClient client;
  nfs_fh4 file;
};

TEST_F(NfsAttributesTest, TellWhatTheFileSystemTells) {
  const bitmap4 wanted{FATTR4_TYPE,       FATTR4_SIZE,        FATTR4_FILEID,   FATTR4_MODE,
                       FATTR4_OWNER,      FATTR4_OWNER_GROUP, FATTR4_NUMLINKS, FATTR4_TIME_MODIFY,
                       FATTR4_SPACE_USED, FATTR4_FILEHANDLE};
  const Attributes attributes = getattr(client, file, wanted);
  const struct stat stat = stat_file();
  EXPECT_EQ(attributes.present, wanted);
  EXPECT_EQ(attributes.type, NF4REG);
  EXPECT_EQ(attributes.size, 5U);
  EXPECT_EQ(attributes.fileid, stat.st_ino);
  EXPECT_EQ(attributes.mode, stat.st_mode & 07777U);
  EXPECT_EQ(attributes.owner.id, stat.st_uid);
  EXPECT_EQ(attributes.numlinks, 1U);
  EXPECT_EQ(attributes.time_modify.seconds, stat.st_mtim.tv_sec);
  EXPECT_EQ(attributes.time_modify.nseconds, stat.st_mtim.tv_nsec);
  EXPECT_EQ(attributes.filehandle, file);
}

// chmod -h and cp -p of a link: Linux has no mode of a link to change, and servers say that it is
// done.
TEST_F(NfsAttributesTest, TheModeOfASymbolicLinkCanBeSet) {
  ASSERT_EQ(::symlink("file", path("link").c_str()), 0);
  Attributes change;
  change.present = {FATTR4_MODE};
  change.mode = 0600;
  const EncodedAttributes encoded(change);
  const nfs_fh4 link = lookup(client, root(client), "link");
  EXPECT_EQ(status_on(client, link, SETATTR4args{kAnonymousStateid, encoded}), NFS4_OK);
  EXPECT_NE(stat_file().st_mode & 07777U, 0600U) << "what it leads to";
}

TEST_F(NfsAttributesTest, SupportedAttributesAreDeliveredAndOthersLeftOut) {
  const bitmap4 supported = getattr(client, file, {FATTR4_SUPPORTED_ATTRS}).supported_attrs;
  EXPECT_TRUE(supported.test(FATTR4_SUPPATTR_EXCLCREAT));
  const bitmap4 write_only{FATTR4_TIME_ACCESS_SET, FATTR4_TIME_MODIFY_SET, FATTR4_MODE_SET_MASKED};
  const bitmap4 readable = supported - write_only;
  EXPECT_EQ(getattr(client, file, readable).present, readable);
  EXPECT_TRUE(getattr(client, file, {FATTR4_ACL, FATTR4_HIDDEN}).present.empty());
  EXPECT_EQ(status_on(client, file, GETATTR4args{write_only}), NFS4ERR_INVAL);
}

TEST_F(NfsAttributesTest, FileSystemSpaceIsTold) {
  const Attributes attributes =
      getattr(client, file, {FATTR4_SPACE_TOTAL, FATTR4_SPACE_FREE, FATTR4_FILES_TOTAL});
  EXPECT_GT(attributes.space_total, 0U);
  EXPECT_LE(attributes.space_free, attributes.space_total);
}

TEST_F(NfsAttributesTest, ChangeDiffersAfterEveryChange) {
  std::uint64_t last = getattr(client, file, {FATTR4_CHANGE}).change;
  const Opened opened = open(client, open_args("file", OPEN4_SHARE_ACCESS_WRITE));
  WRITE4args write;
  write.stateid = opened.stateid;
  write.data.data = bytes_of("x");
  for (int i = 0; i < 200; ++i) {
    ASSERT_EQ(status_on(client, file, write), NFS4_OK);
    const std::uint64_t now = getattr(client, file, {FATTR4_CHANGE}).change;
    ASSERT_GT(now, last);
    last = now;
  }
  EXPECT_EQ(getattr(client, file, {FATTR4_CHANGE}).change, last) << "and is the same without one";
}

TEST_F(NfsAttributesTest, SetsModeOwnerAndTimes) {
  Attributes change;
  change.present = {FATTR4_MODE, FATTR4_TIME_ACCESS_SET, FATTR4_TIME_MODIFY_SET};
  change.mode = 0640;
  change.time_access_set = {SET_TO_CLIENT_TIME4, {1'000'000'000, 5}};
  change.time_modify_set = {SET_TO_CLIENT_TIME4, {-100, 999'999'999}};
  const auto result = setattr(change);
  EXPECT_EQ(result.status, NFS4_OK);
  EXPECT_EQ(result.attrsset, change.present);
  const struct stat stat = stat_file();
  EXPECT_EQ(stat.st_mode & 07777U, 0640U);
  EXPECT_EQ(stat.st_atim.tv_sec, 1'000'000'000);
  EXPECT_EQ(stat.st_mtim.tv_sec, -100);
  EXPECT_EQ(stat.st_mtim.tv_nsec, 999'999'999);
}

TEST_F(NfsAttributesTest, SetsOwnersOnlyAsRoot) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  Attributes change;
  change.present = {FATTR4_OWNER, FATTR4_OWNER_GROUP};
  change.owner.id = 1000;
  change.owner_group.id = 1001;
  EXPECT_EQ(setattr(change).status, NFS4_OK);
  EXPECT_EQ(stat_file().st_uid, 1000U);
  EXPECT_EQ(stat_file().st_gid, 1001U);
  client.credential = user(1000, 1001);
  change.owner.id = 2000;
  EXPECT_EQ(setattr(change).status, NFS4ERR_PERM);
  change.present = {FATTR4_OWNER};
  change.owner.numeric = false;
  change.owner.name = "nobody@nowhere";
  EXPECT_EQ(setattr(change).status, NFS4ERR_BADOWNER);
}

TEST_F(NfsAttributesTest, SizeGrowsWithAHoleAndShrinks) {
  Attributes change;
  change.present = {FATTR4_SIZE};
  change.size = 100'000;
  EXPECT_EQ(setattr(change).status, NFS4_OK);
  EXPECT_EQ(stat_file().st_size, 100'000);
  const Opened opened = open(client, open_args("file", OPEN4_SHARE_ACCESS_WRITE));
  change.size = 2;
  EXPECT_EQ(setattr(change, opened.stateid).status, NFS4_OK);
  EXPECT_EQ(read_file("file"), "12");
  change.size = UINT64_MAX;
  EXPECT_EQ(setattr(change).status, NFS4ERR_FBIG);
}

TEST_F(NfsAttributesTest, SizeHeedsShareReservationsAndOpenModes) {
  const Opened reader =
      open(client, open_args("file", OPEN4_SHARE_ACCESS_READ, OPEN4_SHARE_DENY_WRITE));
  Attributes change;
  change.present = {FATTR4_SIZE};
  EXPECT_EQ(setattr(change).status, NFS4ERR_LOCKED);
  EXPECT_EQ(setattr(change, reader.stateid).status, NFS4ERR_OPENMODE);
  EXPECT_EQ(setattr(change, kReadBypassStateid).status, NFS4ERR_LOCKED);
  file = root(client);
  EXPECT_EQ(setattr(change).status, NFS4ERR_ISDIR);
}

TEST_F(NfsAttributesTest, WhatCannotBeSet) {
  Attributes change;
  change.present = {FATTR4_FILEID};
  EXPECT_EQ(setattr(change).status, NFS4ERR_INVAL);
  change.present = {FATTR4_HIDDEN};
  EXPECT_EQ(setattr(change).status, NFS4ERR_ATTRNOTSUPP);
  change.present = {FATTR4_TIME_MODIFY_SET};
  change.time_modify_set = {SET_TO_CLIENT_TIME4, {0, 1'000'000'000}};
  EXPECT_EQ(setattr(change).status, NFS4ERR_INVAL);
}

TEST_F(NfsAttributesTest, ModeSetMaskedChangesSomeBits) {
  ASSERT_EQ(::chmod(path("file").c_str(), 0604), 0);
  Attributes change;
  change.present = {FATTR4_MODE_SET_MASKED};
  change.mode_set_masked = {0070, 0077};
  EXPECT_EQ(setattr(change).status, NFS4_OK);
  EXPECT_EQ(stat_file().st_mode & 07777U, 0670U);
}

TEST_F(NfsAttributesTest, VerifyComparesAsEncoded) {
  Attributes expected;
  expected.present = {FATTR4_SIZE, FATTR4_TYPE};
  expected.size = 5;
  expected.type = NF4REG;
  const EncodedAttributes same(expected);
  EXPECT_EQ(status_on(client, file, VERIFY4args{same}), NFS4_OK);
  EXPECT_EQ(status_on(client, file, NVERIFY4args{same}), NFS4ERR_SAME);
  expected.size = 6;
  const EncodedAttributes other(expected);
  EXPECT_EQ(status_on(client, file, VERIFY4args{other}), NFS4ERR_NOT_SAME);
  EXPECT_EQ(status_on(client, file, NVERIFY4args{other}), NFS4_OK);
  expected.present = {FATTR4_HIDDEN};
  const EncodedAttributes unsupported(expected);
  EXPECT_EQ(status_on(client, file, VERIFY4args{unsupported}), NFS4ERR_ATTRNOTSUPP);
}

TEST_F(NfsAttributesTest, AccessFollowsModeAndGroups) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  ASSERT_EQ(::chown(path("file").c_str(), 1000, 1000), 0);
  ASSERT_EQ(::chmod(path("file").c_str(), 0640), 0);
  constexpr std::uint32_t kWrite = ACCESS4_MODIFY | ACCESS4_EXTEND;
  EXPECT_EQ(access_as(user(1000, 1000), file), ACCESS4_READ | kWrite);
  EXPECT_EQ(access_as(user(1001, 1000), file), ACCESS4_READ);
  EXPECT_EQ(access_as(user(1001, 1001, {1000}), file), ACCESS4_READ);
  EXPECT_EQ(access_as(user(1001, 1001), file), 0U);
  EXPECT_EQ(access_as(user(0, 0), file), ACCESS4_READ | kWrite) << "nothing to execute";
  rpc::Credential none;
  none.flavor = rpc::AuthFlavor::none;
  EXPECT_EQ(access_as(none, file), 0U);
}

TEST_F(NfsAttributesTest, AccessToDirectories) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  ASSERT_EQ(::chmod(config.directory.c_str(), 0755), 0);
  const nfs_fh4 directory = root(client);
  EXPECT_EQ(access_as(user(1001, 1001), directory), ACCESS4_READ | ACCESS4_LOOKUP);
  EXPECT_EQ(access_as({}, directory), kAllAccess - ACCESS4_EXECUTE);
  const auto result = on<ACCESS4res>(client, directory, ACCESS4args{kAllAccess});
  EXPECT_EQ(result.resok4.supported, kAllAccess - ACCESS4_EXECUTE);
}

}  // namespace nfsrdma::responder::test
