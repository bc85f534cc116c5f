// How long callers wait, in virtual time: for a server that says nothing, and where nothing is
// known of the caller.
#include "fuse/channel/in_flight.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <memory>
#include <utility>

#include "fuse/channel/proc_status.h"
#include "tests/fuse/channel/child.h"
#include "tests/fuse/channel/fake_kernel.h"
#include "tests/fuse/channel/holding_fs.h"
#include "tests/support/virtual_reactor.h"

namespace nfsrdma::fuse::test {
namespace {

using nfsrdma::testing::HoldingFileSystem;
using std::chrono::milliseconds;
using std::chrono::seconds;

class InFlightTest : public ::testing::Test {
 protected:
  void TearDown() override { files_.held.clear(); }

  void make_kernel(AnswerLimit limit = {}) {
    kernel_ = std::make_unique<FakeKernel>(
        reactor_, *slots_, Serving{HoldingFileSystem::handlers(), &files_, {}}, std::move(limit));
  }
  /// A READ that no answer comes for. Returns its unique number.
  std::uint64_t read_held() {
    const std::uint64_t node = files_.number_of(*files_.find(HoldingFileSystem::kHeld));
    return kernel_->send_request(FUSE_READ, node, fuse_read_in{.size = 1});
  }

  VirtualReactor reactor_;
  HoldingFileSystem files_;
  std::unique_ptr<BufferPool> slots_ = std::move(*BufferPool::create(kSlotSize, 2));
  std::unique_ptr<FakeKernel> kernel_;
};

// The signal may be one that the caller handles: it is not let go before it has waited for a while.
TEST_F(InFlightTest, ACallerThatProcHidesIsNotLetGoAtOnce) {
  make_kernel();
  kernel_->caller.pid = 0;
  const std::uint64_t read = read_held();
  kernel_->interrupt(read);
  reactor_.advance(milliseconds(4500));
  EXPECT_FALSE(kernel_->answered(read));
  reactor_.advance(seconds(1));
  EXPECT_EQ(kernel_->take_answer(read).error, EINTR);
}

TEST_F(InFlightTest, AServerThatAnswersOthersMakesNobodyOverdue) {
  TimePoint owed_since = reactor_.now();
  AnswerLimit limit;
  limit.longest = seconds(10);
  limit.error_number = ETIMEDOUT;
  limit.waiting_since = [&owed_since] { return owed_since; };
  make_kernel(limit);
  const std::uint64_t read = read_held();
  reactor_.advance(seconds(6));
  owed_since = reactor_.now();
  reactor_.advance(seconds(5));
  EXPECT_FALSE(kernel_->answered(read)) << "the server has been silent for five seconds";
  reactor_.advance(seconds(6));
  EXPECT_EQ(kernel_->take_answer(read).error, ETIMEDOUT);
}

class LeavingProcess : public InFlightTest {
 protected:
  void SetUp() override {
    files_.hold_flushes = true;
    limit_.exiting = seconds(5);
    limit_.waiting_since = [this] { return owed_since_; };
    make_kernel(limit_);
    kernel_->caller.pid = exited_.pid();
    // Until it is waited for, it is a process that exits.
    while (life_of(reactor_, exited_.pid()) != Life::exiting) ::usleep(1000);
  }
  std::uint64_t flush() {
    const std::uint64_t node = files_.number_of(*files_.find(HoldingFileSystem::kHeld));
    return kernel_->send_request(FUSE_FLUSH, node, fuse_flush_in{});
  }

  TimePoint owed_since_ = reactor_.now();
  AnswerLimit limit_;
  nfsrdma::testing::Child exited_{[] { return 0; }};
};

// The kernel flushes one file after the other: each would wait as long as the first.
TEST_F(LeavingProcess, WithManyFilesWaitsOnce) {
  const std::uint64_t first = flush();
  reactor_.advance(milliseconds(4500));
  EXPECT_FALSE(kernel_->answered(first));
  reactor_.advance(seconds(1));
  EXPECT_EQ(kernel_->take_answer(first).error, EINTR);
  for (int i = 0; i < 3; ++i) {
    const std::uint64_t next = flush();
    EXPECT_EQ(files_.held.size(), i + 2u) << "its file is flushed all the same";
    reactor_.advance(milliseconds(1));
    EXPECT_TRUE(kernel_->answered(next));
  }
  kernel_->caller.pid = ::getpid();
  const std::uint64_t of_another = flush();
  reactor_.advance(seconds(60));
  EXPECT_FALSE(kernel_->answered(of_another)) << "close(2) of a process that goes on waits";
}

TEST_F(LeavingProcess, WaitsAgainForAServerThatAnswersAgain) {
  flush();
  reactor_.advance(milliseconds(5500));
  owed_since_ = reactor_.now();
  const std::uint64_t next = flush();
  reactor_.advance(seconds(4));
  EXPECT_FALSE(kernel_->answered(next)) << "the server does something";
  reactor_.advance(seconds(2));
  EXPECT_TRUE(kernel_->answered(next)) << "it has been silent for five seconds";
}

}  // namespace
}  // namespace nfsrdma::fuse::test
