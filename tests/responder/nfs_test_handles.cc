// File handles: persistence, staleness, forgery, and many more files than descriptors.
#include <unistd.h>

#include <filesystem>

#include "tests/responder/nfs/fs/siphash.h"
#include "tests/responder/nfs_test_support.h"

namespace nfsrdma::responder::test {

using namespace nfs4;

TEST(SipHashTest, GivesThePublishedValue) {
  // The test vector of the SipHash paper: key 00..0f, input 00..0e.
  std::array<std::byte, 15> input;
  for (std::size_t i = 0; i < input.size(); ++i) input[i] = static_cast<std::byte>(i);
  EXPECT_EQ(siphash({0x0706050403020100, 0x0f0e0d0c0b0a0908}, input), 0xa129ca6149be45e5);
}

/// With kernel handles (as root) and with those of the table (as anybody).
class NfsHandleTest : public NfsTest, public ::testing::WithParamInterface<bool> {
 protected:
  void SetUp() override { config.persistent_handles = GetParam(); }
  void restart_process() {
    service.reset();
    start();
  }
  nfsstat4 getattr_status(TestClient& client, const nfs_fh4& handle) {
    return status_on(client, handle, GETATTR4args{{FATTR4_SIZE}});
  }
};

TEST_P(NfsHandleTest, AHandleOutlivesTheProcess) {
  std::filesystem::create_directories(path("a/b"));
  write_file("a/b/file", "x");
  write_file("gone", "x");
  TestClient before = connect();
  nfs_fh4 directory = root(before);
  const nfs_fh4 gone = lookup(before, directory, "gone");
  for (const char* name : {"a", "b"}) directory = lookup(before, directory, name);
  const nfs_fh4 file = lookup(before, directory, "file");
  ASSERT_EQ(::unlink(path("gone").c_str()), 0);
  write_file("gone", "another");
  ASSERT_EQ(::rename(path("a").c_str(), path("c").c_str()), 0);
  restart_process();
  TestClient after = connect();
  EXPECT_EQ(getattr(after, file, {FATTR4_SIZE}).size, 1U);
  EXPECT_EQ(getattr_status(after, directory), NFS4_OK);
  EXPECT_EQ(getattr_status(after, gone), NFS4ERR_STALE);
  EXPECT_EQ(lookup(after, directory, "file"), file) << "it has one handle";
}

// No client can make a handle without the key.
TEST_P(NfsHandleTest, AHandleOfAnotherServerIsRefused) {
  write_file("file", "x");
  config.handle_key = "one";
  service.reset();
  start();
  TestClient before = connect();
  const nfs_fh4 file = lookup(before, root(before), "file");
  config.handle_key = "another";
  restart_process();
  TestClient after = connect();
  const nfsstat4 status = getattr_status(after, file);
  EXPECT_TRUE(status == NFS4ERR_BADHANDLE || status == NFS4ERR_STALE);
}

TEST_P(NfsHandleTest, AChangedHandleIsRefused) {
  write_file("file", "x");
  TestClient client = connect();
  const nfs_fh4 file = lookup(client, root(client), "file");
  for (std::uint32_t at = 0; at < file.length; ++at) {
    nfs_fh4 forged = file;
    forged.data[at] ^= std::byte{1};
    const nfsstat4 status = status_on(client, forged, GETFH4args{});
    EXPECT_TRUE(status == NFS4ERR_BADHANDLE || status == NFS4ERR_STALE) << at;
  }
  nfs_fh4 cut = file;
  cut.length = 7;
  EXPECT_EQ(status_on(client, cut, GETFH4args{}), NFS4ERR_BADHANDLE);
  EXPECT_EQ(status_on(client, nfs_fh4{}, GETFH4args{}), NFS4ERR_BADHANDLE);
}

TEST_P(NfsHandleTest, FarMoreFilesThanDescriptors) {
  config.max_cached_descriptors = 64;
  constexpr int kFiles = 500;
  std::filesystem::create_directories(path("a/b/c"));
  for (int i = 0; i < kFiles; ++i) write_file("a/b/c/" + std::to_string(i), std::string(i, 'x'));
  TestClient client = connect();
  nfs_fh4 directory = root(client);
  for (const char* name : {"a", "b", "c"}) directory = lookup(client, directory, name);
  std::vector<nfs_fh4> handles;
  for (int i = 0; i < kFiles; ++i) {
    handles.push_back(lookup(client, directory, std::to_string(i)));
  }
  for (int i = 0; i < kFiles; ++i) {
    ASSERT_EQ(getattr(client, handles[i], {FATTR4_SIZE}).size, static_cast<std::uint64_t>(i));
  }
  EXPECT_EQ(lookup(client, directory, "7"), handles[7]);
}

TEST_P(NfsHandleTest, HandlesFollowRenamesOfTheirDirectories) {
  config.max_cached_descriptors = 64;
  std::filesystem::create_directories(path("old/inner"));
  write_file("old/inner/file", "content");
  for (int i = 0; i < 200; ++i) write_file(std::to_string(i), "");
  TestClient client = connect();
  const nfs_fh4 top = root(client);
  const nfs_fh4 inner = lookup(client, lookup(client, top, "old"), "inner");
  const nfs_fh4 file = lookup(client, inner, "file");
  EXPECT_EQ(on_two<RENAME4res>(client, top, top, RENAME4args{"old", "new"}).status, NFS4_OK);
  for (int i = 0; i < 200; ++i) lookup(client, top, std::to_string(i));
  EXPECT_EQ(getattr(client, file, {FATTR4_SIZE}).size, 7U);
}

TEST_P(NfsHandleTest, AFileReplacedBehindTheServersBackIsStale) {
  config.max_cached_descriptors = 64;
  write_file("file", "x");
  for (int i = 0; i < 200; ++i) write_file(std::to_string(i), "");
  TestClient client = connect();
  const nfs_fh4 top = root(client);
  const nfs_fh4 file = lookup(client, top, "file");
  for (int i = 0; i < 200; ++i) lookup(client, top, std::to_string(i));
  ASSERT_EQ(::unlink(path("file").c_str()), 0);
  write_file("file", "another");
  EXPECT_EQ(getattr_status(client, file), NFS4ERR_STALE);
  EXPECT_NE(lookup(client, top, "file"), file);
}

TEST_P(NfsHandleTest, OpenFilesStayReachableWhateverElseIsUsed) {
  config.max_cached_descriptors = 64;
  write_file("file", "content");
  for (int i = 0; i < 200; ++i) write_file(std::to_string(i), "");
  TestClient client = connect();
  const nfs_fh4 top = root(client);
  const Opened opened = open(client, open_args("file", OPEN4_SHARE_ACCESS_READ));
  ASSERT_EQ(status_on(client, top, REMOVE4args{"file"}), NFS4_OK);
  for (int i = 0; i < 200; ++i) lookup(client, top, std::to_string(i));
  EXPECT_EQ(getattr_status(client, opened.handle), NFS4_OK);
  EXPECT_EQ(status_on(client, opened.handle, READ4args{opened.stateid, 0, 10}), NFS4_OK);
}

TEST_P(NfsHandleTest, OneOfTwoLinksCanGo) {
  config.max_cached_descriptors = 64;
  write_file("first", "content");
  std::filesystem::create_hard_link(path("first"), path("second"));
  for (int i = 0; i < 200; ++i) write_file(std::to_string(i), "");
  TestClient client = connect();
  const nfs_fh4 top = root(client);
  const nfs_fh4 file = lookup(client, top, "first");
  EXPECT_EQ(lookup(client, top, "second"), file);
  EXPECT_EQ(lookup(client, top, "first"), file);
  ASSERT_EQ(status_on(client, top, REMOVE4args{"first"}), NFS4_OK);
  for (int i = 0; i < 200; ++i) lookup(client, top, std::to_string(i));
  EXPECT_EQ(lookup(client, top, "second"), file);
  EXPECT_EQ(getattr_status(client, file), NFS4_OK);
}

INSTANTIATE_TEST_SUITE_P(BothKinds, NfsHandleTest, ::testing::Bool(), [](const auto& kind) {
  return std::string(kind.param ? "Kernel" : "Table");
});

}  // namespace nfsrdma::responder::test
