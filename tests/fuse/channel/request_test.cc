// A request is answered exactly once: by its operation, or early when its caller is being killed
// (linux-nfs-rdma 1.5: a caller waits uninterruptibly for a request that was read).
#include "fuse/channel/request.h"

#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <linux/fuse.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "tests/fuse/channel/child.h"
#include "tests/fuse/channel/holding_test.h"

namespace nfsrdma::testing {
namespace {

using fuse::ChannelCounters;

constexpr std::size_t kSmall = 4096;

class RequestTest : public HoldingTest {
 protected:
  void SetUp() override {
    const auto reason = reason_not_to_mount();
    if (!reason.empty()) GTEST_SKIP() << reason;
    mount();
  }

  std::uint64_t all_requests() {
    std::uint64_t sum = 0;
    for (std::uint32_t opcode = 0; opcode < fuse::kOpcodes; ++opcode) {
      sum += mounted_->requests(opcode);
    }
    return sum;
  }

  /// What a child does: reads and checks that it got `kSmall` bytes.
  std::function<int()> reader() {
    return [path = file_.c_str()] {
      std::array<char, kSmall> data;
      const int fd = ::open(path, O_RDONLY);
      return ::read(fd, data.data(), data.size()) == static_cast<ssize_t>(kSmall) ? 0 : errno;
    };
  }

  bool answer_first_with_data() {
    bool taken = false;
    mounted_->on_shard([&] {
      static const std::array<std::byte, kSmall> bytes{};
      taken = files_.held.front().request.reply_data(bytes);
    });
    return taken;
  }
  bool first_is_answered() {
    bool answered = false;
    mounted_->on_shard([&] { answered = files_.held.front().request.answered(); });
    return answered;
  }
};

TEST_F(RequestTest, TheFirstAnswerCounts) {
  Child child(reader());
  wait_for_held(1);
  EXPECT_TRUE(answer_first_with_data());
  EXPECT_TRUE(first_is_answered());
  mounted_->on_shard([&] { EXPECT_FALSE(files_.held.front().request.reply_error(EIO)); });
  EXPECT_EQ(child.wait(), 0);
  EXPECT_EQ(count(&ChannelCounters::replies_after_abort), 1u);
}

TEST_F(RequestTest, AnOperationThatForgetsToAnswerIsAnsweredEio) {
  Child child(reader());
  wait_for_held(1);
  mounted_->on_shard([&] { files_.held.clear(); });
  EXPECT_EQ(child.wait(), EIO);
  EXPECT_EQ(count(&ChannelCounters::unanswered), 1u);
}

TEST_F(RequestTest, ErrorsReachTheCaller) {
  Child child(reader());
  wait_for_held(1);
  mounted_->on_shard([&] { EXPECT_TRUE(files_.held.front().request.reply_error(ESTALE)); });
  EXPECT_EQ(child.wait(), ESTALE);
}

class FatalSignal : public RequestTest, public ::testing::WithParamInterface<int> {};

TEST_P(FatalSignal, ReleasesTheCallerWhileTheOperationGoesOn) {
  Child child(reader());
  wait_for_held(1);
  child.send(GetParam());
  EXPECT_EQ(child.wait(), -GetParam());
  EXPECT_TRUE(first_is_answered());
  EXPECT_EQ(count(&ChannelCounters::interrupted), 1u);
  EXPECT_FALSE(answer_first_with_data()) << "the operation is told that its caller has gone";
  EXPECT_EQ(count(&ChannelCounters::replies_after_abort), 1u);
}

INSTANTIATE_TEST_SUITE_P(Signals, FatalSignal,
                         ::testing::Values(SIGKILL, SIGTERM, SIGINT, SIGQUIT));

TEST_F(RequestTest, ASignalThatIsHandledDoesNotDisturbTheCaller) {
  Child child([this, read_held = reader()] {
    ::signal(SIGUSR1, [](int) {});
    return read_held();
  });
  wait_for_held(1);
  child.send(SIGUSR1);
  wait_until([&] { return count(&ChannelCounters::interrupts) == 1; });
  EXPECT_FALSE(first_is_answered());
  EXPECT_TRUE(answer_first_with_data());
  EXPECT_EQ(child.wait(), 0);
  EXPECT_EQ(count(&ChannelCounters::interrupted), 0u);
}

// The kernel sends INTERRUPT once: a caller that is killed later must be noticed without it.
TEST_F(RequestTest, ACallerThatIsKilledAfterAHandledSignalIsReleased) {
  Child child([read_held = reader()] {
    ::signal(SIGUSR1, [](int) {});
    return read_held();
  });
  wait_for_held(1);
  child.send(SIGUSR1);
  wait_until([&] { return count(&ChannelCounters::interrupts) == 1; });
  child.send(SIGKILL);
  EXPECT_EQ(child.wait(), -SIGKILL);
  EXPECT_EQ(count(&ChannelCounters::interrupts), 1u);
  EXPECT_EQ(count(&ChannelCounters::interrupted), 1u);
  EXPECT_FALSE(answer_first_with_data());
}

class LeavingCaller : public RequestTest {
 protected:
  bool is_answered(std::size_t place) {
    bool answered = false;
    mounted_->on_shard([&] { answered = files_.held[place].request.answered(); });
    return answered;
  }
};

// The kernel waits in FLUSH out of exit(2), where no signal is seen: no INTERRUPT comes.
TEST_F(LeavingCaller, AProcessThatExitsDoesNotWaitForEver) {
  mounted_->on_shard([this] { files_.hold_flushes = true; });
  Child closing([path = file_.c_str()] { return ::close(::open(path, O_RDONLY)); });
  wait_for_held(1);
  Child exiting([path = file_.c_str()] { return ::open(path, O_RDONLY) < 0; });
  wait_for_held(2);
  EXPECT_EQ(exiting.wait(), 0);
  EXPECT_TRUE(is_answered(1));
  EXPECT_FALSE(is_answered(0)) << "close(2) waits for its answer, for longer already";
  EXPECT_EQ(count(&ChannelCounters::left_behind), 1u);
  mounted_->on_shard([this] {
    EXPECT_FALSE(files_.held[1].request.reply_error(ENOSPC)) << "no caller is left to be told";
    EXPECT_TRUE(files_.held[0].request.reply_ok());
  });
  EXPECT_EQ(closing.wait(), 0);
}

// The kernel keeps the pages of a READ locked until it is answered, even if its caller is gone.
TEST_F(LeavingCaller, PagesAreNotKeptForAReaderThatIsGone) {
  const std::string path = mounted_->path(HoldingFileSystem::kHeldPages.data());
  Child reader([path = path.c_str()] {
    char byte = 0;
    return ::pread(::open(path, O_RDONLY), &byte, 1, 0) == 1 ? 0 : 1;
  });
  wait_until([&] {
    bool any = false;
    mounted_->on_shard([&] { any = !files_.held.empty(); });
    return any;
  });
  reader.send(SIGKILL);
  EXPECT_EQ(reader.wait(), -SIGKILL);
  wait_until([&] { return is_answered(0); });
  mounted_->on_shard([this] {
    static const std::array<std::byte, kSmall> bytes{};
    EXPECT_FALSE(files_.held[0].request.reply_data(bytes));
  });
}

TEST_F(RequestTest, ReadAndAnswerAreOneSystemCallEach) {
  mounted_->on_shard([&] { files_.add("plain", kSmall); });
  const int fd = ::open(mounted_->path("plain").c_str(), O_RDONLY);
  ASSERT_GE(fd, 0);
  mounted_->on_shard([] {});  // the answer to OPEN is counted after open(2) has returned
  // Anybody may ask something else of a mount meanwhile (its attributes, say).
  const auto others = [this] { return all_requests() - mounted_->requests(FUSE_READ); };
  const auto reads = count(&ChannelCounters::device_reads) - others();
  const auto writes = count(&ChannelCounters::device_writes) - others();
  const auto idle = count(&ChannelCounters::device_idle);
  std::array<char, kSmall> data;
  constexpr int kTimes = 20;
  for (int i = 0; i < kTimes; ++i) {
    ASSERT_EQ(::pread(fd, data.data(), data.size(), 0), static_cast<ssize_t>(kSmall));
  }
  // The last answer is counted after the caller has it.
  wait_until([&] { return count(&ChannelCounters::device_writes) - others() - writes >= kTimes; });
  EXPECT_EQ(count(&ChannelCounters::device_reads) - others() - reads, kTimes);
  EXPECT_EQ(count(&ChannelCounters::device_writes) - others() - writes, kTimes);
  EXPECT_EQ(count(&ChannelCounters::device_idle), idle) << "no read in vain";
  EXPECT_EQ(mounted_->requests(FUSE_READ), kTimes);
  ::close(fd);
}

TEST_F(RequestTest, TheCallerIsTheProcessThatAsks) {
  constexpr uid_t kUser = 12345;
  constexpr gid_t kGroup = 23456;
  const std::array<gid_t, 3> groups = {kGroup, 34567, 45678};
  mounted_->on_shard([&] { ASSERT_TRUE(files_.held.empty()); });
  Child child([&groups, read_held = reader()] {
    if (::setgroups(groups.size(), groups.data()) != 0 || ::setgid(kGroup) != 0 ||
        ::setuid(kUser) != 0) {
      return -1;
    }
    return read_held();
  });
  wait_for_held(1);
  rpc::Credential credential;
  mounted_->on_shard([&] { credential = files_.held.front().request.caller(); });
  EXPECT_EQ(credential.flavor, rpc::AuthFlavor::sys);
  EXPECT_EQ(credential.uid, kUser);
  EXPECT_EQ(credential.gid, kGroup);
  ASSERT_EQ(credential.group_count, 2u) << "the group itself is not repeated";
  EXPECT_EQ(credential.groups[0], groups[1]);
  EXPECT_EQ(credential.groups[1], groups[2]);
  answer_first_with_data();
  EXPECT_EQ(child.wait(), 0);
}

}  // namespace
}  // namespace nfsrdma::testing
