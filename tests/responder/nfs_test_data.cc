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
    args.data.data = octets_of(text);
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

}  // namespace nfsrdma::responder::test
