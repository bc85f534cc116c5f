// READ, WRITE, COMMIT: RFC 8881 sections 18.22, 18.32 and 18.3.
#include "tests/responder/nfs_test_support.h"

namespace nfsrdma::responder::test {

using namespace nfs4;

class NfsDataTest : public NfsTest {
 protected:
  WRITE4args write_args(const stateid4& stateid, std::uint64_t offset, std::string_view text,
                        stable_how4 stable = UNSTABLE4) {
    WRITE4args args;
    args.stateid = stateid;
    args.offset = offset;
    args.stable = stable;
    args.data.data = bytes_of(text);
    return args;
  }
  WRITE4res write(TestClient& client, const nfs_fh4& file, const WRITE4args& args) {
    Results results = run(client, putfh(file), args);
    results.skip<PUTFH4res>();
    return results.next<WRITE4res>();
  }
  struct ReadBack {
    nfsstat4 status;
    bool eof;
    std::string text;
  };
  ReadBack read(TestClient& client, const nfs_fh4& file, const READ4args& args) {
    Results results = run(client, putfh(file), args);
    results.skip<PUTFH4res>();
    const auto result = results.next<READ4res>();
    return {result.status, result.resok4.eof, text_of(result.resok4.data.data)};
  }
};

TEST_F(NfsDataTest, WritesAndReadsBack) {
  TestClient client = connect();
  const Opened file = open(client, creating(open_args("file", OPEN4_SHARE_ACCESS_BOTH), GUARDED4));
  ASSERT_EQ(file.status, NFS4_OK);
  const auto written = write(client, file.handle, write_args(file.stateid, 0, "hello world"));
  EXPECT_EQ(written.status, NFS4_OK);
  EXPECT_EQ(written.resok4.count, 11U);
  EXPECT_EQ(written.resok4.committed, UNSTABLE4);
  EXPECT_EQ(read_file("file"), "hello world");

  const auto middle = read(client, file.handle, {file.stateid, 6, 3});
  EXPECT_EQ(middle.text, "wor");
  EXPECT_FALSE(middle.eof);
  const auto to_the_end = read(client, file.handle, {file.stateid, 6, 5});
  EXPECT_EQ(to_the_end.text, "world");
  EXPECT_TRUE(to_the_end.eof);
  const auto beyond = read(client, file.handle, {file.stateid, 100, 5});
  EXPECT_EQ(beyond.text, "");
  EXPECT_TRUE(beyond.eof);
}

TEST_F(NfsDataTest, StableWritesSayWhatTheyDid) {
  config.durable = true;
  TestClient client = connect();
  const Opened file = open(client, creating(open_args("file", OPEN4_SHARE_ACCESS_BOTH), GUARDED4));
  const auto data_sync = write(client, file.handle, write_args(file.stateid, 0, "a", DATA_SYNC4));
  EXPECT_EQ(data_sync.resok4.committed, DATA_SYNC4);
  const auto file_sync = write(client, file.handle, write_args(file.stateid, 1, "b", FILE_SYNC4));
  EXPECT_EQ(file_sync.resok4.committed, FILE_SYNC4);
  const auto committed = on<COMMIT4res>(client, file.handle, COMMIT4args{});
  EXPECT_EQ(committed.status, NFS4_OK);
  EXPECT_EQ(committed.resok4.writeverf, file_sync.resok4.writeverf);
  ASSERT_EQ(status_on(client, file.handle, CLOSE4args{0, file.stateid}), NFS4_OK);
  EXPECT_EQ(status_on(client, file.handle, COMMIT4args{}), NFS4_OK) << "also when closed";
}

TEST_F(NfsDataTest, WritesBeyondTheEndLeaveAHole) {
  TestClient client = connect();
  const Opened file = open(client, creating(open_args("file", OPEN4_SHARE_ACCESS_BOTH), GUARDED4));
  EXPECT_EQ(write(client, file.handle, write_args(file.stateid, 4, "x")).status, NFS4_OK);
  EXPECT_EQ(read_file("file"), std::string("\0\0\0\0x", 5));
  EXPECT_EQ(write(client, file.handle, write_args(file.stateid, 0, "")).resok4.count, 0U);
  EXPECT_EQ(write(client, file.handle, write_args(file.stateid, INT64_MAX, "xx")).status,
            NFS4ERR_FBIG);
}

TEST_F(NfsDataTest, ExtremeReads) {
  write_file("file", "12345");
  TestClient client = connect();
  const Opened file = open(client, open_args("file", OPEN4_SHARE_ACCESS_READ));
  const auto empty = read(client, file.handle, {file.stateid, 0, 0});
  EXPECT_EQ(empty.status, NFS4_OK);
  EXPECT_FALSE(empty.eof);
  EXPECT_TRUE(read(client, file.handle, {file.stateid, 5, 0}).eof);
  EXPECT_TRUE(read(client, file.handle, {file.stateid, UINT64_MAX, UINT32_MAX}).eof);
  EXPECT_EQ(read(client, file.handle, {file.stateid, 0, UINT32_MAX}).text, "12345");
}

TEST_F(NfsDataTest, AReadIsShortWhenMemoryIs) {
  write_file("file", std::string(100'000, 'x'));
  TestClient client = connect();
  const nfs_fh4 file = lookup(client, root(client), "file");
  auto call =
      std::make_shared<FakeCall>(encode_compound(kNfsMinorVersion1, sequence(client), putfh(file),
                                                 READ4args{kAnonymousStateid, 0, 100'000}),
                                 client.credential, *client.connection);
  call->scratch_limit = 32'768;
  service->handle(*call);
  Results results(call);
  results.skip<SEQUENCE4res>();
  results.skip<PUTFH4res>();
  const auto result = results.next<READ4res>();
  EXPECT_EQ(result.status, NFS4_OK);
  EXPECT_EQ(result.resok4.data.data.size(), 25'000U);
  EXPECT_FALSE(result.resok4.eof);
}

TEST_F(NfsDataTest, OnlyRegularFilesHaveData) {
  TestClient client = connect();
  const nfs_fh4 directory = root(client);
  EXPECT_EQ(status_on(client, directory, READ4args{kAnonymousStateid, 0, 1}), NFS4ERR_ISDIR);
  EXPECT_EQ(status_on(client, directory, write_args(kAnonymousStateid, 0, "x")), NFS4ERR_ISDIR);
  EXPECT_EQ(status_on(client, directory, COMMIT4args{}), NFS4ERR_ISDIR);
}

}  // namespace nfsrdma::responder::test
