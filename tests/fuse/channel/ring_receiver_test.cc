// FUSE over io_uring on a real mount: what comes over which channel, more requests than entries,
// slots, the end.
#include "fuse/channel/ring_receiver.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/fuse.h>
#include <sched.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <thread>
#include <vector>

#include "fuse/channel/mount_table.h"
#include "fuse/channel/unmount.h"
#include "tests/fuse/channel/child.h"
#include "tests/fuse/channel/holding_fs.h"
#include "tests/fuse/channel/io_uring_offer.h"
#include "tests/fuse/channel/mounted_session.h"

namespace nfsrdma::testing {
namespace {

using fuse::ChannelCounters;

class RingReceiverTest : public ::testing::Test {
 protected:
  static constexpr std::size_t kSlots = 3;

  void SetUp() override {
    auto reason = reason_not_to_mount();
    if (reason.empty()) reason = offer_.reason_against();
    if (!reason.empty()) GTEST_SKIP() << reason;
    files_.add("plain", 0);
    mounted_ =
        std::make_unique<MountedSession>(HoldingFileSystem::handlers(), files_, kSlots, true);
    held_ = mounted_->path(HoldingFileSystem::kHeld.data());
  }
  void TearDown() override {
    if (mounted_) mounted_->on_shard([this] { files_.held.clear(); });
  }

  std::size_t held() {
    std::size_t now = 0;
    mounted_->on_shard([&] { now = files_.held.size(); });
    return now;
  }
  void wait_for_held(std::size_t count) {
    wait_until([&] { return held() == count; });
  }
  std::uint64_t count(Counter ChannelCounters::*counter) { return mounted_->count(counter); }
  /// A process that asks for a name that there is not.
  int look_up() {
    Child child([path = mounted_->path("missing")] {
      struct stat status;
      return ::stat(path.c_str(), &status) == 0 ? 0 : errno;
    });
    return child.wait();
  }

  IoUringOffer offer_;
  HoldingFileSystem files_;
  std::unique_ptr<MountedSession> mounted_;
  std::string held_;
};

TEST_F(RingReceiverTest, RequestsAndTheirDataComeOverIt) {
  Child child([path = mounted_->path("plain")] {
    static char written[fuse::kMaxTransfer], read[fuse::kMaxTransfer];
    for (std::size_t i = 0; i < sizeof written; ++i) written[i] = static_cast<char>(i % 251);
    const int fd = ::open(path.c_str(), O_RDWR);
    if (::write(fd, written, sizeof written) != sizeof written) return errno;
    if (::pread(fd, read, sizeof read, 0) != sizeof read) return errno;
    return std::memcmp(written, read, sizeof read) == 0 ? 0 : EILSEQ;
  });
  EXPECT_EQ(child.wait(), 0);
  EXPECT_EQ(look_up(), ENOENT);
  EXPECT_GE(count(&ChannelCounters::ring_requests), 5u);
  EXPECT_EQ(count(&ChannelCounters::ring_answers), count(&ChannelCounters::ring_requests));
  EXPECT_EQ(count(&ChannelCounters::device_writes), 0u);
}

// A queue that were full would keep what comes later from the kernel's other requests, also what
// those wait for.
TEST_F(RingReceiverTest, ManyThatWaitLeaveRoomForOthers) {
  constexpr std::size_t kTogether = 64;
  constexpr std::size_t kRounds = 6;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(0, &one);
  const auto read_held = [&] {
    ::sched_setaffinity(0, sizeof one, &one);
    std::array<char, 512> data{};
    const UniqueFd file(::open(held_.c_str(), O_RDONLY));
    EXPECT_EQ(::pread(file.get(), data.data(), data.size(), 0), ssize_t{data.size()});
  };
  std::vector<std::thread> readers;
  for (std::size_t round = 1; round <= kRounds; ++round) {
    for (std::size_t i = 0; i < kTogether; ++i) readers.emplace_back(read_held);
    wait_for_held(round * kTogether);
  }
  EXPECT_EQ(look_up(), ENOENT);
  mounted_->on_shard([&] {
    static const std::array<std::byte, 512> bytes{};
    for (auto& held : files_.held) EXPECT_TRUE(held.request.reply_data(bytes));
    files_.held.clear();
  });
  for (auto& reader : readers) reader.join();
}

TEST_F(RingReceiverTest, WithoutAFreeSlotAWriteWaitsUntilOneComesBack) {
  const auto write = [](std::string path) {
    return [path] {
      const int fd = ::open(path.c_str(), O_WRONLY);
      return ::write(fd, "x", 1) == 1 ? 0 : errno;
    };
  };
  std::vector<std::unique_ptr<Child>> writers;
  for (const char* file : {"held", "held2", "held3"}) {
    writers.push_back(std::make_unique<Child>(write(mounted_->path(file))));
  }
  wait_for_held(2);  // /dev/fuse has the third slot
  wait_until([&] { return count(&ChannelCounters::slot_stalls) >= 1; });
  mounted_->on_shard([&] {
    EXPECT_TRUE(files_.held.front().request.reply_write(1));
    files_.held.pop_front();
  });
  wait_for_held(2);
  mounted_->on_shard([&] {
    for (auto& held : files_.held) EXPECT_TRUE(held.request.reply_write(1));
    files_.held.clear();
  });
  for (auto& writer : writers) EXPECT_EQ(writer->wait(), 0);
}

TEST_F(RingReceiverTest, AKilledCallerIsAnsweredWhileItsOperationGoesOn) {
  Child child([path = held_.c_str()] {
    char byte;
    const int fd = ::open(path, O_RDONLY);
    return ::read(fd, &byte, 1) == 1 ? 0 : errno;
  });
  wait_for_held(1);
  child.send(SIGKILL);
  EXPECT_EQ(child.wait(), -SIGKILL);
  EXPECT_EQ(count(&ChannelCounters::interrupted), 1u);
  mounted_->on_shard([&] { EXPECT_FALSE(files_.held.front().request.reply_error(EIO)); });
}

TEST_F(RingReceiverTest, AbortEndsItAndItsCallers) {
  if (!connections_are_visible()) GTEST_SKIP() << "no /sys/fs/fuse/connections";
  Child child([path = held_.c_str()] {
    char byte;
    const int fd = ::open(path, O_RDONLY);
    return ::read(fd, &byte, 1) == 1 ? 0 : errno;
  });
  wait_for_held(1);
  ASSERT_TRUE(fuse::abort_connection(fuse::find_mount(mounted_->path())->device));
  wait_until([&] { return mounted_->ended(); });
  EXPECT_EQ(child.wait(), ECONNABORTED);
}

}  // namespace
}  // namespace nfsrdma::testing
