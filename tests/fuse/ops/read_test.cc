// READ: the right bytes, and what has to be done before and beside.
#include <fcntl.h>

#include "tests/fuse/ops/kernel_requests.h"

namespace nfsrdma::fuse::test {
namespace {

class ReadRequest : public KernelRequests {
 protected:
  FileRef file_of(const Opened& opened) { return fs_->find_file(opened.fh); }
};

TEST_F(ReadRequest, BringsTheBytesThatWereAsked) {
  const std::string text = text_of(50000);
  server_.write_file("f", text);
  const Opened file = kernel_open("f", O_RDONLY);
  EXPECT_EQ(read(file, 0, 50000).text(), text);
  EXPECT_EQ(read(file, 1234, 4096).text(), text.substr(1234, 4096));
  EXPECT_EQ(read(file, 1, 1).text(), text.substr(1, 1));
  release(file);
}

TEST_F(ReadRequest, EndsWhereTheFileEnds) {
  server_.write_file("f", "text");
  const Opened file = kernel_open("f", O_RDONLY);
  EXPECT_EQ(read(file, 2, 4096).text(), "xt");
  EXPECT_EQ(server_.successes_of(nfs4::OP_READ), 1) << "the server has said that it ends there";
  const Answer behind = read(file, 4, 4096);
  EXPECT_EQ(behind.error, 0);
  EXPECT_TRUE(behind.body.empty());
  EXPECT_TRUE(read(file, 5000, 10).body.empty());
  EXPECT_TRUE(read(file, 0, 0).body.empty());
  release(file);
}

TEST_F(ReadRequest, OneThatIsLargerThanTheServerGivesIsMadeOfSeveral) {
  const std::size_t rsize = mount().rsize();
  const std::string text = text_of(rsize + rsize / 2);
  server_.write_file("f", text);
  const Opened file = kernel_open("f", O_RDONLY);
  EXPECT_TRUE(read(file, 0, static_cast<std::uint32_t>(text.size())).text() == text);
  EXPECT_EQ(server_.successes_of(nfs4::OP_READ), 2);
  const auto beyond = static_cast<std::uint32_t>(text.size() + 1000);
  EXPECT_TRUE(read(file, 10, beyond).text() == text.substr(10)) << "it ends in the second";
  release(file);
}

TEST_F(ReadRequest, BringsWhatWasWrittenBefore) {
  const Opened file = kernel_open("f");
  ASSERT_EQ(write(file, 0, "text"), 0);
  EXPECT_EQ(writes(), 0);
  EXPECT_EQ(read(file, 0, 4096).text(), "text");
  EXPECT_EQ(writes(), 1);
  release(file);
}

TEST_F(ReadRequest, IsMadeInTheNameOfWhoOpened) {
  server_.write_file("f", "text");
  const Opened file = kernel_open("f", O_RDONLY);
  kernel_->caller.uid = 4242;
  EXPECT_EQ(read(file, 0, 4).text(), "text");
  EXPECT_EQ(server_.arrivals().back().caller.uid, caller().uid);
  release(file);
}

TEST_F(ReadRequest, TheKernelHasThePagesAfterwardsUnlessItReadsPastThem) {
  server_.write_file("f", text_of(9000));
  const Opened direct = kernel_open("f", O_RDONLY | O_DIRECT);
  read(direct, 0, 4096);
  EXPECT_FALSE(file_of(direct)->node().view().pages().any({0, 9000}));
  const Opened cached = open_node(direct.node, O_RDONLY);
  read(cached, 4096, 4096);
  EXPECT_TRUE(file_of(direct)->node().view().pages().any({4096, 8192}));
  release(direct);
  release(cached);
}

TEST_F(ReadRequest, ErrorsAreTold) {
  server_.write_file("f", "text");
  const Opened file = kernel_open("f", O_RDONLY);
  server_.fail(nfs4::OP_READ, nfs4::NFS4ERR_IO);
  EXPECT_EQ(read(file, 0, 4).error, EIO);
  EXPECT_EQ(fs_counter("errors_read_NFS4ERR_IO"), 1U);
  server_.fail(nfs4::OP_READ, nfs4::NFS4ERR_ACCESS);
  EXPECT_EQ(read(file, 0, 4).error, EACCES);
  EXPECT_EQ(read({file.node, file.fh + 1}, 0, 4).error, EBADF);
  release(file);
}

// soft: the caller is answered; slot and operation stay until the server answers.
TEST_F(ReadRequest, ACallerThatIsLetGoLeavesTheOperationBehind) {
  using client::test::Arrival;
  using client::test::Fate;
  make_soft_kernel(ETIMEDOUT);
  server_.write_file("f", "text");
  const Opened file = kernel_open("f", O_RDONLY);
  server_.fate = [](const Arrival& arrival) {
    return arrival.has(nfs4::OP_READ) ? Fate::hold : Fate::answer;
  };
  EXPECT_EQ(read(file, 0, 4).error, ETIMEDOUT);
  EXPECT_EQ(kernel_->in_flight().running(), 1U);
  EXPECT_EQ(message_slots_->available(), kMessageSlots - 1);
  server_.fate = nullptr;
  server_.disconnect();
  reactor_.advance(std::chrono::seconds(5));
  EXPECT_EQ(kernel_->in_flight().running(), 0U);
  EXPECT_EQ(kernel_->counters().replies_after_abort.value(), 1U);
  release(file);
}

}  // namespace
}  // namespace nfsrdma::fuse::test
