// What the OPEN of a small file reads with it: used when it is right, forgotten when it may not be.
#include <fcntl.h>

#include "client/session/session.h"
#include "tests/fuse/ops/kernel_requests.h"

namespace nfsrdma::fuse::test {
namespace {

constexpr std::uint32_t kPages = 16 << 10;  ///< bytes of the kernel's read

class ReadAtOpen : public KernelRequests {
 protected:
  explicit ReadAtOpen(responder::DelegationKind delegations = {}) : KernelRequests(delegations) {}
  FileSystemConfig config() const override {
    FileSystemConfig config;
    config.data.read_ahead = kMost;
    return config;
  }

  /// The node of a file of so many bytes, which the kernel has looked up.
  std::uint64_t make(std::size_t size) {
    text_ = text_of(size);
    server_.write_file("f", text_);
    return lookup("f").nodeid;
  }
  std::string all(const Opened& file) { return read(file, 0, kPages).text(); }
  int reads() const { return server_.successes_of(nfs4::OP_READ); }
  std::uint64_t at_open() const { return fs_counter("cache_read_at_open"); }
  std::uint64_t slots_used() const { return fs_counter("cache_read_ahead_slots"); }
  /// Opens the file while something happens between the server's answer and the kernel's.
  template <class Meanwhile>
  Opened open_during(std::uint64_t node, Meanwhile&& meanwhile) {
    hold(nfs4::OP_READ);
    const std::uint64_t opening = begin(FUSE_OPEN, node, fuse_open_in{O_RDONLY, 0});
    reactor_.settle();
    server_.fate = nullptr;
    meanwhile();
    server_.release_held();
    const Answer answer = end(opening);
    EXPECT_EQ(answer.error, 0);
    return {node, answer.as<fuse_open_out>().fh, O_RDONLY};
  }

  static constexpr std::size_t kMost = std::size_t{4} << 20;
  std::string text_;
};

TEST_F(ReadAtOpen, ASmallFileIsReadInOneRequest) {
  const std::uint64_t node = make(5000);
  const std::size_t before = server_.arrivals().size();
  const Opened file = open_node(node, O_RDONLY);
  EXPECT_EQ(all(file), text_);
  EXPECT_EQ(server_.arrivals().size(), before + 1);
  EXPECT_EQ(at_open(), 1U);
  EXPECT_EQ(slots_used(), 0U) << "all of it has been given";
  release(file);
}

// OPEN with the name compared has nine operations then.
TEST_F(ReadAtOpen, AServerOfFewOperationsIsAskedForTheFileAlone) {
  const std::uint64_t node = make(5000);
  mount().session().limits().max_operations = 8;
  const Opened file = open_node(node, O_RDONLY);
  EXPECT_EQ(reads(), 0);
  EXPECT_EQ(all(file), text_);
  release(file);
}

TEST_F(ReadAtOpen, TheLargestAndTheSmallestAreRead) {
  const std::uint64_t node = make(cache::ReadAhead::kAtOpen);
  Opened file = open_node(node, O_RDONLY);
  EXPECT_EQ(all(file), text_);
  EXPECT_EQ(reads(), 1);
  release(file);
  forget(node, 1);
  file = open_node(make(1), O_RDONLY);
  EXPECT_EQ(all(file), text_);
  EXPECT_EQ(reads(), 2);
  release(file);
  EXPECT_EQ(at_open(), 2U);
}

TEST_F(ReadAtOpen, OthersAreReadWhenAskedFor) {
  const Opened large = open_node(make(cache::ReadAhead::kAtOpen + 1), O_RDONLY);
  release(large);
  server_.write_file("empty", "");
  release(kernel_open("empty", O_RDONLY));
  server_.write_file("small", "text");
  for (const int flags : {O_RDWR, O_WRONLY, O_RDONLY | O_DIRECT}) {
    release(kernel_open("small", flags));
  }
  EXPECT_EQ(reads(), 0);
  EXPECT_EQ(slots_used(), 0U);
}

TEST_F(ReadAtOpen, WhatIsNotReadGoesAfterAWhile) {
  const Opened file = open_node(make(100), O_RDONLY);
  EXPECT_EQ(slots_used(), 1U);
  reactor_.advance(3 * cache::ReadAhead::kIdle);
  EXPECT_EQ(slots_used(), 0U);
  EXPECT_EQ(all(file), text_);
  EXPECT_EQ(reads(), 2);
  release(file);
}

TEST_F(ReadAtOpen, WhatIsNotReadGoesWithTheClose) {
  const Opened file = open_node(make(100), O_RDONLY);
  EXPECT_EQ(slots_used(), 1U);
  release(file);
  EXPECT_EQ(slots_used(), 0U);
}

TEST_F(ReadAtOpen, AKernelThatHasThePagesNeedsNone) {
  const std::uint64_t node = make(100);
  Opened file = open_node(node, O_RDONLY);
  EXPECT_EQ(all(file), text_);
  release(file);
  file = open_node(node, O_RDONLY);
  EXPECT_NE(file.open_flags & FOPEN_KEEP_CACHE, 0U);
  EXPECT_EQ(reads(), 1);
  release(file);
}

TEST_F(ReadAtOpen, AFileThatIsOpenAlreadyIsReadWhenAskedFor) {
  const std::uint64_t node = make(100);
  const Opened writer = open_node(node, O_RDWR);
  const Opened file = open_node(node, O_RDONLY);
  EXPECT_EQ(reads(), 0) << "what the other one writes would have to be sent first";
  release(writer);
  release(file);
}

TEST_F(ReadAtOpen, AWriterThatComesMeanwhileIsSeen) {
  const std::uint64_t node = make(100);
  Opened writer;
  const Opened file = open_during(node, [&] {
    writer = open_node(node, O_RDWR);
    ASSERT_EQ(write(writer, 0, "new"), 0);
  });
  text_.replace(0, 3, "new");
  EXPECT_EQ(all(file), text_);
  EXPECT_EQ(at_open(), 0U);
  release(writer);
  release(file);
}

TEST_F(ReadAtOpen, AChangeThatIsLearnedMeanwhileIsSeen) {
  const std::uint64_t node = make(100);
  const Opened file = open_during(node, [&] {
    text_ = std::string(100, '#');
    server_.write_file("f", text_);
    lookup("f");
  });
  EXPECT_EQ(all(file), text_);
  EXPECT_EQ(at_open(), 0U);
  release(file);
}

TEST_F(ReadAtOpen, AnotherClientsWriteIsSeenAtTheNextOpen) {
  const std::uint64_t node = make(100);
  const Opened file = open_node(node, O_RDONLY);
  text_ = std::string(100, '#');
  server_.write_file("f", text_);
  const Opened again = open_node(node, O_RDONLY);
  EXPECT_EQ(all(again), text_);
  EXPECT_EQ(all(file), text_);
  release(file);
  release(again);
}

TEST_F(ReadAtOpen, OwnTruncationIsSeen) {
  const std::uint64_t node = make(100);
  const Opened file = open_node(node, O_RDONLY);
  fuse_setattr_in in{};
  in.valid = FATTR_SIZE;
  in.size = 7;
  ASSERT_EQ(ask(FUSE_SETATTR, node, in).error, 0);
  EXPECT_EQ(all(file), text_.substr(0, 7));
  release(file);
}

TEST_F(ReadAtOpen, AFileThatHasGrownIsReadToItsEnd) {
  const std::uint64_t node = make(100);
  text_ = text_of(3 * kPages);
  server_.write_file("f", text_);
  const Opened file = open_node(node, O_RDONLY);
  EXPECT_EQ(all(file), text_.substr(0, kPages));
  EXPECT_EQ(read(file, kPages, 2 * kPages).text(), text_.substr(kPages));
  EXPECT_EQ(at_open(), 1U);
  release(file);
}

TEST_F(ReadAtOpen, AReadThatFailsLeavesTheFileOpen) {
  const std::uint64_t node = make(100);
  server_.fail(nfs4::OP_READ, nfs4::NFS4ERR_DELAY);
  const Opened file = open_node(node, O_RDONLY);
  EXPECT_EQ(server_.failures_left(nfs4::OP_READ), 0);
  EXPECT_EQ(server_.successes_of(nfs4::OP_OPEN), 1);
  EXPECT_EQ(slots_used(), 0U);
  EXPECT_EQ(all(file), text_);
  release(file);
  EXPECT_EQ(server_.successes_of(nfs4::OP_CLOSE), 1);
}

TEST_F(ReadAtOpen, AnOpenThatFailsGivesTheMemoryBack) {
  const std::uint64_t node = make(100);
  server_.fail(nfs4::OP_OPEN, nfs4::NFS4ERR_ACCESS);
  EXPECT_EQ(ask(FUSE_OPEN, node, fuse_open_in{O_RDONLY, 0}).error, EACCES);
  EXPECT_EQ(slots_used(), 0U);
}

TEST_F(ReadAtOpen, ALostConnectionOpensOnce) {
  const std::uint64_t node = make(100);
  const Opened file = open_during(node, [this] { server_.disconnect(); });
  EXPECT_EQ(all(file), text_);
  release(file);
  EXPECT_EQ(server_.successes_of(nfs4::OP_CLOSE), 1);
}

// Its memory is what a late answer would be put into.
TEST_F(ReadAtOpen, ACallerThatIsLetGoLeavesTheReadBehind) {
  make_soft_kernel(ETIMEDOUT);
  const std::uint64_t node = make(100);
  hold(nfs4::OP_READ);
  EXPECT_EQ(ask(FUSE_OPEN, node, fuse_open_in{O_RDONLY, 0}).error, ETIMEDOUT);
  EXPECT_EQ(slots_used(), 1U);
  server_.fate = nullptr;
  server_.disconnect();
  reactor_.advance(std::chrono::seconds(5));
  EXPECT_EQ(kernel_->in_flight().running(), 0U);
  EXPECT_EQ(slots_used(), 0U);
  EXPECT_EQ(server_.successes_of(nfs4::OP_CLOSE), 1);
}

class ReadAtOpenDelegated : public ReadAtOpen {
 protected:
  ReadAtOpenDelegated() : ReadAtOpen(responder::DelegationKind::read) {}
};

TEST_F(ReadAtOpenDelegated, IsForgottenWhenTheDelegationEnds) {
  const std::uint64_t node = make(100);
  const Opened file = open_node(node, O_RDONLY);
  const auto handle = fs_->find_file(file.fh)->inode->handle();
  ASSERT_TRUE(mount().delegations().held(handle));
  EXPECT_EQ(slots_used(), 1U);
  finish(mount().delegations().give_back(handle));
  EXPECT_EQ(slots_used(), 0U);
  text_ = std::string(100, '#');
  server_.write_file("f", text_);
  EXPECT_EQ(all(file), text_);
  release(file);
}

class ReadAtOpenOff : public ReadAtOpen {
 protected:
  FileSystemConfig config() const override {
    FileSystemConfig config = ReadAtOpen::config();
    config.attributes.acregmin = config.attributes.acregmax = Duration::zero();
    return config;
  }
};

TEST_F(ReadAtOpenOff, WithoutAttributesThatAreBelieved) {
  release(open_node(make(100), O_RDONLY));
  EXPECT_EQ(reads(), 0);
}

}  // namespace
}  // namespace nfsrdma::fuse::test
