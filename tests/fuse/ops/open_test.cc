// OPEN: how a file is opened, and whether the kernel may keep what it has cached.
#include <fcntl.h>

#include <filesystem>

#include "client/files/open_files.h"
#include "tests/fuse/ops/kernel_requests.h"

namespace nfsrdma::fuse::test {
namespace {

class OpenRequest : public KernelRequests {
 protected:
  FileRef file_of(const Opened& opened) { return fs_->find_file(opened.fh); }
  int open_error(std::uint64_t node) {
    return ask(FUSE_OPEN, node, fuse_open_in{O_RDONLY, 0}).error;
  }
};

TEST_F(OpenRequest, OpensForReadingOrWritingAsAsked) {
  const Opened reader = kernel_open("f", O_RDONLY);
  const Opened writer = open_node(reader.node, O_WRONLY);
  const Opened both = open_node(reader.node, O_RDWR);
  EXPECT_FALSE(file_of(reader)->writable());
  EXPECT_TRUE(file_of(writer)->writable());
  EXPECT_TRUE(file_of(both)->writable());
  EXPECT_NE(reader.fh, writer.fh);
  for (const Opened& file : {reader, writer, both}) release(file);
  EXPECT_EQ(fs_->files().unfinished().files, 0U);
}

// Reads would go on finding what the server has refused, and every other client what it has.
TEST_F(OpenRequest, DropsPagesThatTheServerHasRefused) {
  attach();
  const std::string old = text_of(4096);
  server_.write_file("f", old);
  const Opened file = kernel_open("f");
  EXPECT_EQ(read(file, 0, 4096).text(), old);
  ASSERT_EQ(write(file, 0, std::string(4096, 'n')), 0);
  server_.fail(nfs4::OP_WRITE, nfs4::NFS4ERR_IO);
  EXPECT_EQ(fsync(file), EIO);
  release(file);
  const Opened again = open_node(file.node);
  const bool keeps = again.open_flags & FOPEN_KEEP_CACHE;
  EXPECT_TRUE(!keeps || !drops_of(file.node).empty());
  release(again);
}

// Mapped pages are written back without the flags of open(2).
TEST_F(OpenRequest, RemembersSync) {
  const Opened other = kernel_open("f", O_WRONLY);
  const Opened synchronous = open_node(other.node, O_WRONLY | O_SYNC);
  EXPECT_FALSE(file_of(other)->synchronous);
  EXPECT_TRUE(file_of(synchronous)->synchronous);
  release(other);
  release(synchronous);
}

TEST_F(OpenRequest, DirectWritesRunSideBySideWhereTheKernelCanMapTheFile) {
  constexpr std::uint32_t kSideBySide = FOPEN_DIRECT_IO | FOPEN_PARALLEL_DIRECT_WRITES;
  const Opened older = kernel_open("f", O_RDWR | O_DIRECT);
  kernel_->maps_direct_io = true;
  const Opened direct = open_node(older.node, O_RDWR | O_DIRECT);
  const Opened cached = open_node(older.node, O_RDWR);
  EXPECT_EQ(older.open_flags & kSideBySide, 0U);
  EXPECT_EQ(direct.open_flags & kSideBySide, kSideBySide);
  EXPECT_EQ(cached.open_flags & kSideBySide, 0U);
  for (const Opened& file : {older, direct, cached}) release(file);
}

TEST_F(OpenRequest, PagesAreKeptUntilAnotherClientWrites) {
  attach();
  Opened file = kernel_open("f");
  release(file);
  file = open_node(file.node);
  EXPECT_TRUE(file.open_flags & FOPEN_KEEP_CACHE);
  EXPECT_TRUE(drops_of(file.node).empty());
  release(file);
  client::Opened elsewhere = open_file("f", nfs4::OPEN4_SHARE_ACCESS_BOTH);
  ASSERT_TRUE(write_text(elsewhere, 0, "changed elsewhere"));
  ASSERT_TRUE(run(mount().opens().close(std::move(elsewhere.open))));
  file = open_node(file.node);
  ASSERT_EQ(drops_of(file.node).size(), 1U) << "before the answer";
  EXPECT_EQ(drops_of(file.node)[0].offset, 0);
  EXPECT_EQ(drops_of(file.node)[0].length, 0) << "to the end";
  release(file);
}

TEST_F(OpenRequest, ErrorsAreTold) {
  server_.write_file("f", "");
  const std::uint64_t node = lookup("f").nodeid;
  server_.fail(nfs4::OP_OPEN, nfs4::NFS4ERR_ACCESS);
  EXPECT_EQ(ask(FUSE_OPEN, node, fuse_open_in{O_RDWR, 0}).error, EACCES);
  EXPECT_EQ(ask(FUSE_OPEN, 4711, fuse_open_in{O_RDWR, 0}).error, ESTALE);
}

// With ESTALE the kernel looks the name up again. Where it cannot (/proc/self/fd), it asks for the
// same file again.
TEST_F(OpenRequest, ANameThatLeadsToAnotherFileOpensNeither) {
  server_.write_file("log", "old");
  const std::uint64_t node = lookup("log").nodeid;
  std::filesystem::rename(server_.path("log"), server_.path("log.1"));
  server_.write_file("log", "new");
  EXPECT_EQ(open_error(node), ESTALE);
  EXPECT_EQ(fs_counter("fs_open_files"), 0U);
  const Opened now = kernel_open("log", O_RDONLY);
  EXPECT_NE(now.node, node);
  EXPECT_EQ(read(now, 0, 100).text(), "new");
  release(now);
  release(open_node(node, O_RDONLY));
}

TEST_F(OpenRequest, AFileThatWasRenamedHereIsOpenedByItsNewName) {
  server_.write_file("f", "text");
  const std::uint64_t node = lookup("f").nodeid;
  ASSERT_EQ(ask(FUSE_RENAME, kRoot, fuse_rename_in{kRoot}, "f", "g").error, 0);
  release(open_node(node, O_RDONLY));
  std::filesystem::rename(server_.path("g"), server_.path("f"));
  EXPECT_EQ(open_error(node), ESTALE);
}

TEST_F(OpenRequest, AFileThatLostANameHereIsOpenedByTheOther) {
  server_.write_file("f", "text");
  std::filesystem::create_hard_link(server_.path("f"), server_.path("g"));
  const std::uint64_t node = lookup("f").nodeid;
  ASSERT_EQ(lookup("g").nodeid, node);
  ASSERT_EQ(ask(FUSE_UNLINK, kRoot, "g").error, 0);
  release(open_node(node, O_RDONLY));
}

TEST_F(OpenRequest, ANameThatCannotBeComparedIsBelieved) {
  server_.write_file("f", "text");
  const std::uint64_t node = lookup("f").nodeid;
  server_.fail(nfs4::OP_VERIFY, nfs4::NFS4ERR_ATTRNOTSUPP);
  release(open_node(node, O_RDONLY));
  server_.fail(nfs4::OP_LOOKUP, nfs4::NFS4ERR_ACCESS);
  release(open_node(node, O_RDONLY));
  EXPECT_EQ(server_.failures_left(nfs4::OP_VERIFY), 0);
  EXPECT_EQ(server_.failures_left(nfs4::OP_LOOKUP), 0);
}

// The server keeps it because it is open elsewhere.
TEST_F(OpenRequest, AFileWithoutANameIsStaleUnlessItIsOpenHere) {
  server_.write_file("f", "text");
  const std::uint64_t node = lookup("f").nodeid;
  client::Opened elsewhere = open_file("f", nfs4::OPEN4_SHARE_ACCESS_READ);
  const Opened here = open_node(node, O_RDONLY);
  std::filesystem::remove(server_.path("f"));
  EXPECT_EQ(open_error(node), ESTALE) << "the name is looked up again";
  release(open_node(node, O_RDONLY));
  release(here);
  EXPECT_EQ(open_error(node), ESTALE);
  ASSERT_TRUE(run(mount().opens().close(std::move(elsewhere.open))));
}

TEST_F(OpenRequest, WhenNobodyTakesTheAnswerTheFileIsClosed) {
  server_.write_file("f", "");
  const std::uint64_t node = lookup("f").nodeid;
  kernel_->takes_answers = false;
  begin(FUSE_OPEN, node, fuse_open_in{O_RDWR, 0});
  reactor_.advance(std::chrono::seconds(1));
  EXPECT_EQ(server_.successes_of(nfs4::OP_CLOSE), 1);
  EXPECT_EQ(fs_->files().unfinished().files, 0U);
}

TEST_F(OpenRequest, AnotherUsersOpenIsMadeInHisName) {
  server_.write_file("f", "");
  std::filesystem::permissions(server_.path("."), std::filesystem::perms(0755));
  std::filesystem::permissions(server_.path("f"), std::filesystem::perms(0644));
  const std::uint64_t node = lookup("f").nodeid;
  kernel_->caller.uid = 4242;
  EXPECT_EQ(ask(FUSE_OPEN, node, fuse_open_in{O_RDWR, 0}).error, EACCES);
  release(open_node(node, O_RDONLY));
}

// An opener drops the pages when it runs again, whatever others have been told meanwhile.
TEST_F(OpenRequest, PagesAreKeptWhenAllOpenersHaveDroppedThem) {
  const Opened first = kernel_open("f");
  const Opened second = open_node(first.node);
  EXPECT_FALSE(first.open_flags & FOPEN_KEEP_CACHE);
  EXPECT_FALSE(second.open_flags & FOPEN_KEEP_CACHE);
  EXPECT_EQ(read(first, 0, 1).error, 0);
  const Opened third = open_node(first.node);
  EXPECT_FALSE(third.open_flags & FOPEN_KEEP_CACHE);
  EXPECT_EQ(read(second, 0, 1).error, 0);
  EXPECT_EQ(read(third, 0, 1).error, 0);
  const Opened last = open_node(first.node);
  EXPECT_TRUE(last.open_flags & FOPEN_KEEP_CACHE);
  for (const Opened& file : {first, second, third, last}) release(file);
}

TEST_F(OpenRequest, WhenNobodyTookTheAnswerThePagesAreNotDropped) {
  server_.write_file("f", "");
  const std::uint64_t node = lookup("f").nodeid;
  kernel_->takes_answers = false;
  begin(FUSE_OPEN, node, fuse_open_in{O_RDWR, 0});
  reactor_.advance(std::chrono::seconds(1));
  kernel_->takes_answers = true;
  const Opened file = open_node(node);
  EXPECT_FALSE(file.open_flags & FOPEN_KEEP_CACHE);
  release(file);
}

}  // namespace
}  // namespace nfsrdma::fuse::test
