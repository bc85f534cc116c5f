// UNLINK and RMDIR.
#include "tests/fuse/ops/kernel_requests.h"

namespace nfsrdma::fuse::test {
namespace {

class RemoveRequests : public KernelRequests {
 protected:
  int names() const {
    const auto all = std::filesystem::directory_iterator(server_.path("."));
    return static_cast<int>(std::distance(std::filesystem::begin(all), std::filesystem::end(all)));
  }
};

TEST_F(RemoveRequests, UnlinkRemovesTheName) {
  server_.write_file("f", "");
  server_.write_file("g", "");
  getattr(kRoot);
  EXPECT_EQ(ask(FUSE_UNLINK, kRoot, "f").error, 0);
  EXPECT_FALSE(server_.exists("f"));
  EXPECT_TRUE(server_.exists("g"));
  const int before = server_.successes_of(nfs4::OP_GETATTR);
  getattr(kRoot);
  EXPECT_EQ(server_.successes_of(nfs4::OP_GETATTR), before + 1) << "the directory has changed";
  EXPECT_EQ(ask(FUSE_UNLINK, kRoot, "f").error, ENOENT);
  EXPECT_EQ(ask(FUSE_UNLINK, 4711, "g").error, ESTALE);
}

// The name may lead to another file by then.
TEST_F(RemoveRequests, ANameWhoseRemoverIsGoneStays) {
  make_soft_kernel(ETIMEDOUT);
  server_.write_file("f", "old");
  server_.fail(nfs4::OP_REMOVE, nfs4::NFS4ERR_DELAY, 6);
  EXPECT_EQ(ask(FUSE_UNLINK, kRoot, "f").error, ETIMEDOUT);
  reactor_.advance(std::chrono::seconds(20));
  EXPECT_TRUE(server_.exists("f"));
}

TEST_F(RemoveRequests, AnOpenFileStaysUntilItsLastClose) {
  server_.write_file("f", "text");
  const Opened one = kernel_open("f");
  const Opened two = open_node(one.node);
  EXPECT_EQ(ask(FUSE_UNLINK, kRoot, "f").error, 0);
  EXPECT_FALSE(server_.exists("f"));
  release(one);
  EXPECT_EQ(names(), 1) << "the silly name";
  EXPECT_EQ(read(two, 0, 10).text(), "text");
  release(two);
  EXPECT_EQ(names(), 0);
}

TEST_F(RemoveRequests, AnotherFileIsRemovedWhileOneIsOpen) {
  server_.write_file("f", "");
  server_.write_file("other", "");
  const Opened file = kernel_open("f");
  EXPECT_EQ(ask(FUSE_UNLINK, kRoot, "other").error, 0);
  EXPECT_EQ(names(), 1);
  release(file);
}

TEST_F(RemoveRequests, RmdirRemovesAnEmptyDirectory) {
  std::filesystem::create_directory(server_.path("d"));
  server_.write_file("d/f", "");
  EXPECT_EQ(ask(FUSE_RMDIR, kRoot, "d").error, ENOTEMPTY);
  std::filesystem::remove(server_.path("d/f"));
  EXPECT_EQ(ask(FUSE_RMDIR, kRoot, "d").error, 0);
  EXPECT_FALSE(server_.exists("d"));
}

TEST_F(RemoveRequests, IsMadeInTheNameOfItsCaller) {
  server_.write_file("f", "");
  std::filesystem::permissions(server_.path("."), std::filesystem::perms(0755));
  kernel_->caller.uid = 4242;
  EXPECT_EQ(ask(FUSE_UNLINK, kRoot, "f").error, EACCES);
  EXPECT_TRUE(server_.exists("f"));
}

}  // namespace
}  // namespace nfsrdma::fuse::test
