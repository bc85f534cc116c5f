// The service when the process has no more descriptors.
#include <sys/resource.h>

#include "tests/responder/nfs_test_support.h"

namespace nfsrdma::responder::test {

using namespace nfs4;

namespace {

constexpr rlim_t kFew = 256;

class NfsDescriptorTest : public NfsTest {
 protected:
  /// In a process of its own, because a hard limit that was lowered stays low.
  void run_out_of_descriptors();
  Opened create(int number) {
    const std::string name = "file-" + std::to_string(number);
    return open(client, creating(open_args(name, OPEN4_SHARE_ACCESS_BOTH), GUARDED4));
  }

  TestClient client;
};

void NfsDescriptorTest::run_out_of_descriptors() {
  const rlimit few{kFew / 2, kFew};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  client = connect();
  rlimit raised{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &raised), 0);
  EXPECT_EQ(raised.rlim_cur, kFew) << "the soft limit is raised to the hard one";
  std::vector<Opened> opened;
  nfsstat4 status = NFS4_OK;
  while (status == NFS4_OK && opened.size() < kFew) {
    opened.push_back(create(static_cast<int>(opened.size())));
    status = opened.back().status;
  }
  EXPECT_EQ(status, NFS4ERR_SERVERFAULT);
  ASSERT_GT(opened.size(), kFew / 4) << "two descriptors for each, and some are kept back";
  opened.pop_back();
  const int last = static_cast<int>(opened.size());
  EXPECT_EQ(create(last).status, NFS4ERR_SERVERFAULT);
  const nfs_fh4 top = root(client);
  EXPECT_EQ(status_on(client, top, LOOKUP4args{"file-" + std::to_string(last)}), NFS4ERR_NOENT)
      << "a file that could not be opened has not been made";
  for (int i = 0; i < 200; ++i) {
    const std::string name = "other-" + std::to_string(i);
    write_file(name, "x");
    EXPECT_EQ(status_on(client, top, LOOKUP4args{name}), NFS4_OK) << name;
  }
  READDIR4args list{0, {}, 0, 4096, {FATTR4_SIZE}};
  EXPECT_EQ(status_on(client, top, list), NFS4_OK);
  const Opened& some = opened.front();
  EXPECT_EQ(status_on(client, some.handle, READ4args{some.stateid, 0, 1}), NFS4_OK);
  EXPECT_EQ(status_on(client, some.handle, COMMIT4args{}), NFS4_OK);
  for (const Opened& each : opened) {
    EXPECT_EQ(status_on(client, each.handle, CLOSE4args{0, each.stateid}), NFS4_OK);
  }
  EXPECT_EQ(create(last).status, NFS4_OK) << "what was closed can be opened again";
}

}  // namespace

// OPEN, RFC 8881 section 18.16: an error that says it is the server's, and no DELAY, for which the
// client would come back for ever. Everything but OPEN goes on.
TEST_F(NfsDescriptorTest, OpensFailAndAllElseGoesOn) {
  const auto in_the_child = [this] {
    run_out_of_descriptors();
    std::exit(HasFailure() ? 1 : 0);
  };
  EXPECT_EXIT(in_the_child(), ::testing::ExitedWithCode(0), "");
}

}  // namespace nfsrdma::responder::test
