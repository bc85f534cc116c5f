// CREATE: a file that is made and open at once.
#include <fcntl.h>

#include "tests/fuse/ops/kernel_requests.h"

namespace nfsrdma::fuse::test {
namespace {

class CreateRequest : public KernelRequests {
 protected:
  Answer create(const std::string& name, int flags, std::uint32_t mode = S_IFREG | 0640) {
    const fuse_create_in in{static_cast<std::uint32_t>(flags), mode, 0, 0};
    return ask(FUSE_CREATE, kRoot, in, name);
  }
  static Opened opened(const Answer& answer, int flags) {
    return {answer.as<fuse_entry_out>().nodeid, answer.as<fuse_open_out>(sizeof(fuse_entry_out)).fh,
            static_cast<std::uint32_t>(flags)};
  }
};

TEST_F(CreateRequest, MakesAFileThatIsOpen) {
  const Answer made = create("f", O_RDWR);
  ASSERT_EQ(made.error, 0);
  EXPECT_EQ(made.as<fuse_entry_out>().attr.mode, S_IFREG | 0640U);
  const Opened file = opened(made, O_RDWR);
  EXPECT_EQ(write(file, 3, "text"), 0);
  EXPECT_EQ(fsync(file), 0);
  EXPECT_EQ(server_.read_file("f"), std::string(3, '\0') + "text");
  release(file);
  forget(file.node, 1);
  EXPECT_FALSE(known(file.node)) << "one lookup is counted";
}

TEST_F(CreateRequest, WithoutExclTakesWhatIsThere) {
  server_.write_file("f", "text");
  const Answer made = create("f", O_RDWR);
  ASSERT_EQ(made.error, 0);
  EXPECT_EQ(made.as<fuse_entry_out>().attr.size, 4U);
  release(opened(made, O_RDWR));
}

TEST_F(CreateRequest, WithTruncEmptiesWhatIsThere) {
  server_.write_file("f", "text");
  const Answer made = create("f", O_RDWR | O_TRUNC);
  ASSERT_EQ(made.error, 0);
  EXPECT_EQ(made.as<fuse_entry_out>().attr.size, 0U);
  EXPECT_EQ(server_.read_file("f"), "");
  release(opened(made, O_RDWR));
}

TEST_F(CreateRequest, WithExclRefusesWhatIsThere) {
  server_.write_file("f", "text");
  EXPECT_EQ(create("f", O_RDWR | O_EXCL | O_TRUNC).error, EEXIST);
  EXPECT_EQ(server_.read_file("f"), "text");
}

// The kernel looks the name up again then, and follows the link or opens the FIFO itself.
TEST_F(CreateRequest, WhereAnotherClientHasMadeAnotherTypeTheNameIsLookedUpAgain) {
  const Opened root = open_directory();
  ASSERT_EQ(ask(FUSE_READDIR, kRoot, read_in(root, 0, 4096)).error, 0);
  close_directory(root);
  ASSERT_EQ(ask(FUSE_LOOKUP, kRoot, "link").as<fuse_entry_out>().nodeid, 0U);
  std::filesystem::create_symlink("target", server_.path("link"));
  ASSERT_EQ(::mkfifo(server_.path("pipe").c_str(), 0600), 0);
  for (const char* name : {"link", "pipe"}) {
    EXPECT_EQ(create(name, O_RDWR).error, ESTALE) << name;
    EXPECT_NE(lookup(name).nodeid, 0U) << name;
  }
  EXPECT_EQ(fs_counter("errors_create_NFS4ERR_SYMLINK"), 0U) << "no program gets it";
}

TEST_F(CreateRequest, OpensForWhatWasAsked) {
  const Opened read_only = opened(create("r", O_RDONLY), O_RDONLY);
  EXPECT_FALSE(fs_->find_file(read_only.fh)->writable());
  const Opened append = opened(create("a", O_WRONLY | O_APPEND), O_WRONLY | O_APPEND);
  EXPECT_TRUE(fs_->find_file(append.fh)->writable());
  release(read_only);
  release(append);
}

TEST_F(CreateRequest, WhenNobodyTakesTheAnswerTheFileIsClosed) {
  kernel_->takes_answers = false;
  const fuse_create_in in{O_RDWR, S_IFREG | 0640, 0, 0};
  begin(FUSE_CREATE, kRoot, in, "f");
  reactor_.advance(std::chrono::seconds(1));
  EXPECT_EQ(server_.successes_of(nfs4::OP_CLOSE), 1);
  EXPECT_EQ(fs_->files().unfinished().files, 0U);
  EXPECT_EQ(fs_counter("fs_inodes"), 1U) << "the root alone";
}

// By then another program may have made the file, written and closed it.
TEST_F(CreateRequest, AFileThatNobodyWaitsForAnyMoreIsNotMadeLater) {
  make_soft_kernel(ETIMEDOUT);
  server_.fail(nfs4::OP_OPEN, nfs4::NFS4ERR_GRACE, 6);
  EXPECT_EQ(create("f", O_RDWR | O_TRUNC).error, ETIMEDOUT);
  reactor_.advance(std::chrono::milliseconds(200));
  const Opened file = opened(create("f", O_RDWR | O_TRUNC), O_RDWR);
  EXPECT_EQ(write(file, 0, "text"), 0);
  EXPECT_EQ(fsync(file), 0);
  release(file);
  reactor_.advance(std::chrono::seconds(20));
  EXPECT_EQ(server_.read_file("f"), "text");
}

TEST_F(CreateRequest, ADirectoryThatChangedIsLookedAtAnew) {
  getattr(kRoot);
  const Answer made = create("f", O_RDWR);
  const int before = server_.successes_of(nfs4::OP_GETATTR);
  getattr(kRoot);
  EXPECT_GT(server_.successes_of(nfs4::OP_GETATTR), before);
  release(opened(made, O_RDWR));
}

}  // namespace
}  // namespace nfsrdma::fuse::test
