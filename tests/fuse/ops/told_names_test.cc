// UNLINK and RENAME of names that the kernel was told: while something is open or delegated, the
// server is asked what a name leads to only where that is not known.
#include <fcntl.h>

#include "tests/fuse/ops/kernel_requests.h"

namespace nfsrdma::fuse::test {
namespace {

class ToldNames : public KernelRequests {
 protected:
  explicit ToldNames(responder::DelegationKind delegations = {}) : KernelRequests(delegations) {}
  void SetUp() override {
    KernelRequests::SetUp();
    server_.write_file("held", "held");
    server_.write_file("f", "f");
    server_.write_file("g", "g");
  }
  int unlink(const std::string& name) { return ask(FUSE_UNLINK, kRoot, name).error; }
  int rename(const std::string& from, const std::string& to) {
    return ask(FUSE_RENAME, kRoot, fuse_rename_in{kRoot}, from, to).error;
  }
  int lookups() const { return server_.successes_of(nfs4::OP_LOOKUP); }
  /// Changes what the server has, and lets the client see the change.
  void others_rename(const std::string& from, const std::string& to) {
    std::filesystem::rename(server_.path(from), server_.path(to));
    reactor_.advance(std::chrono::minutes(2));
    getattr(kRoot);
  }
};

TEST_F(ToldNames, AreRemovedWithoutALookup) {
  const Opened held = kernel_open("held");
  lookup("f");
  const int before = lookups();
  EXPECT_EQ(unlink("f"), 0);
  EXPECT_EQ(lookups(), before);
  EXPECT_FALSE(server_.exists("f"));
  release(held);
}

TEST_F(ToldNames, AreReplacedWithoutALookup) {
  const Opened held = kernel_open("held");
  lookup("f");
  lookup("g");
  const int before = lookups();
  EXPECT_EQ(rename("f", "g"), 0);
  EXPECT_EQ(lookups(), before);
  EXPECT_EQ(server_.read_file("g"), "f");
  release(held);
}

TEST_F(ToldNames, AreLookedUpWhenTheyWereNotTold) {
  const Opened held = kernel_open("held");
  const int before = lookups();
  EXPECT_EQ(rename("f", "g"), 0);
  EXPECT_EQ(lookups(), before + 1) << "the one that is replaced";
  EXPECT_EQ(unlink("g"), 0);
  EXPECT_EQ(lookups(), before + 2);
  release(held);
}

TEST_F(ToldNames, OfAnOpenFileAreLookedUp) {
  const Opened held = kernel_open("held");
  lookup("f");
  EXPECT_EQ(rename("f", "held"), 0);
  EXPECT_EQ(server_.read_file("held"), "f");
  EXPECT_EQ(read(held, 0, 10).text(), "held");
  release(held);
}

TEST_F(ToldNames, GoWithARename) {
  const Opened held = kernel_open("held");
  lookup("f");
  lookup("g");
  ASSERT_EQ(rename("held", "g"), 0);
  ASSERT_EQ(rename("f", "held"), 0);
  EXPECT_EQ(unlink("g"), 0) << "by now the name of the open file";
  EXPECT_EQ(read(held, 0, 10).text(), "held");
  const int before = lookups();
  EXPECT_EQ(unlink("held"), 0);
  EXPECT_EQ(lookups(), before);
  release(held);
}

TEST_F(ToldNames, AreLookedUpAfterARenameThatFailed) {
  const Opened held = kernel_open("held");
  lookup("f");
  lookup("g");
  // As far as the client can tell it may have been done.
  server_.fail(nfs4::OP_RENAME, nfs4::NFS4ERR_ACCESS);
  ASSERT_EQ(rename("held", "g"), EACCES);
  std::filesystem::rename(server_.path("held"), server_.path("g"));
  EXPECT_EQ(unlink("g"), 0);
  EXPECT_EQ(read(held, 0, 10).text(), "held");
  release(held);
}

TEST_F(ToldNames, AreLookedUpAfterARemovalThatFailed) {
  const Opened held = kernel_open("held");
  lookup("f");
  server_.fail(nfs4::OP_REMOVE, nfs4::NFS4ERR_ACCESS);
  ASSERT_EQ(unlink("f"), EACCES);
  std::filesystem::rename(server_.path("held"), server_.path("f"));
  EXPECT_EQ(unlink("f"), 0);
  EXPECT_EQ(read(held, 0, 10).text(), "held");
  release(held);
}

TEST_F(ToldNames, AreLookedUpWhenOthersHaveChangedTheDirectory) {
  const Opened held = kernel_open("held");
  lookup("f");
  others_rename("held", "f");
  EXPECT_EQ(unlink("f"), 0);
  EXPECT_EQ(read(held, 0, 10).text(), "held");
  release(held);
}

TEST_F(ToldNames, AreLookedUpWhenTheKernelHasLetGoOfTheInode) {
  const Opened held = kernel_open("held");
  forget(lookup("f").nodeid, 1);
  const int before = lookups();
  EXPECT_EQ(unlink("f"), 0);
  EXPECT_EQ(lookups(), before + 1);
  release(held);
}

class NamesNotBelieved : public ToldNames {
 protected:
  FileSystemConfig config() const override {
    FileSystemConfig config = ToldNames::config();
    config.kernel.names_of_each_user = true;
    return config;
  }
};

TEST_F(NamesNotBelieved, AreLookedUp) {
  const Opened held = kernel_open("held");
  lookup("f");
  const int before = lookups();
  EXPECT_EQ(unlink("f"), 0);
  EXPECT_EQ(lookups(), before + 1);
  release(held);
}

class ToldNamesDelegated : public ToldNames {
 protected:
  ToldNamesDelegated() : ToldNames(responder::DelegationKind::read) {}
};

// RFC 8881 section 10.4.4: before the last name goes.
TEST_F(ToldNamesDelegated, OfADelegatedFileReturnIt) {
  const Opened file = kernel_open("f", O_RDONLY);
  ASSERT_TRUE(mount().delegations().any());
  release(file);
  const int before = lookups();
  EXPECT_EQ(unlink("f"), 0);
  EXPECT_EQ(server_.successes_of(nfs4::OP_DELEGRETURN), 1);
  EXPECT_EQ(lookups(), before);
  EXPECT_FALSE(mount().delegations().any());
}

TEST_F(ToldNamesDelegated, OpenedClosedAndRemovedAreFourRequests) {
  const std::size_t before = server_.arrivals().size();
  const Opened file = kernel_open("f", O_RDONLY);  // LOOKUP; OPEN
  release(file);
  EXPECT_EQ(server_.arrivals().size() - before, 2U);
  EXPECT_EQ(unlink("f"), 0);  // DELEGRETURN with CLOSE; REMOVE
  EXPECT_EQ(server_.arrivals().size() - before, 4U);
  EXPECT_EQ(server_.successes_of(nfs4::OP_CLOSE), 1);
}

}  // namespace
}  // namespace nfsrdma::fuse::test
