// The receive loop: slots handed over and given back, limits agreed with the kernel, the end.
#include "fuse/channel/receiver.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/fuse.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <thread>
#include <vector>

#include "fuse/channel/mount_table.h"
#include "fuse/channel/unmount.h"
#include "tests/fuse/channel/child.h"
#include "tests/fuse/channel/holding_test.h"

namespace nfsrdma::testing {
namespace {

using fuse::ChannelCounters;

/// A direct request carries whole pages of the caller: 1 MiB that starts within one is split.
constexpr std::size_t kPage = 4096;

class ReceiverTest : public HoldingTest {
 protected:
  static constexpr std::size_t kSlots = 3;

  void SetUp() override {
    const auto reason = reason_not_to_mount();
    if (!reason.empty()) GTEST_SKIP() << reason;
    mount(kSlots);
  }

  void answer_first_write() {
    mounted_->on_shard([&] {
      auto& first = files_.held.front();
      EXPECT_TRUE(first.request.reply_write(first.size));
      files_.held.pop_front();
    });
  }
  std::function<int()> writer(std::size_t size, char fill, std::string file = "held") {
    return [path = mounted_->path(file.c_str()), size, fill] {
      alignas(kPage) static char data[fuse::kMaxTransfer];
      std::memset(data, fill, size);
      const int fd = ::open(path.c_str(), O_WRONLY);
      return ::write(fd, data, size) == static_cast<ssize_t>(size) ? 0 : errno;
    };
  }

  std::vector<std::unique_ptr<Child>> take_all_slots() {
    std::vector<std::unique_ptr<Child>> writers;
    for (const char* file : {"held", "held2", "held3"}) {
      writers.push_back(std::make_unique<Child>(writer(fuse::kMaxTransfer, 'x', file)));
      wait_for_held(writers.size());
    }
    EXPECT_EQ(writers.size(), kSlots);
    return writers;
  }
};

TEST_F(ReceiverTest, AWriteOfOneMebibyteIsOneRequestInPagesOfTheSlotItTook) {
  Child child(writer(fuse::kMaxTransfer, 'w'));
  wait_for_held(1);
  mounted_->on_shard([&] {
    const auto& write = files_.held.front();
    EXPECT_EQ(write.size, fuse::kMaxTransfer);
    const std::byte* const slot = write.slot.data();
    EXPECT_GE(write.data.data(), slot);
    EXPECT_LE(write.data.data() + write.size, slot + write.slot.size());
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(write.data.data()) % kPage, 0U);
    EXPECT_EQ(write.data.front(), std::byte{'w'});
    EXPECT_EQ(write.data.back(), std::byte{'w'});
  });
  EXPECT_EQ(mounted_->count(&ChannelCounters::slots_taken), 1u);
  answer_first_write();
  EXPECT_EQ(child.wait(), 0);
}

TEST_F(ReceiverTest, AReadOfOneMebibyteIsOneRequest) {
  Child child([path = file_.c_str()] {
    alignas(kPage) static char data[fuse::kMaxTransfer];
    const int fd = ::open(path, O_RDONLY);
    return ::read(fd, data, sizeof data) == static_cast<ssize_t>(sizeof data) ? 0 : errno;
  });
  wait_for_held(1);
  mounted_->on_shard([&] {
    auto& read = files_.held.front();
    EXPECT_EQ(read.size, fuse::kMaxTransfer);
    EXPECT_TRUE(read.request.reply_data(files_.find(HoldingFileSystem::kHeld)->content));
  });
  EXPECT_EQ(child.wait(), 0);
}

TEST_F(ReceiverTest, ATakenSlotIsNotReceivedInto) {
  Child first(writer(fuse::kMaxTransfer, '1'));
  wait_for_held(1);
  Child second(writer(fuse::kMaxTransfer, '2', "held2"));
  wait_for_held(2);
  mounted_->on_shard([&] {
    EXPECT_NE(files_.held[0].slot.data(), files_.held[1].slot.data());
    EXPECT_EQ(files_.held[0].data[fuse::kMaxTransfer / 2], std::byte{'1'});
    EXPECT_EQ(files_.held[1].data[fuse::kMaxTransfer / 2], std::byte{'2'});
  });
  answer_first_write();
  answer_first_write();
  EXPECT_EQ(first.wait(), 0);
  EXPECT_EQ(second.wait(), 0);
}

TEST_F(ReceiverTest, WithoutAFreeSlotItWaitsUntilOneComesBack) {
  auto writers = take_all_slots();
  // Nothing has asked for a slot since the last one was taken: the next request does.
  Child other([path = mounted_->path("missing")] {
    struct stat status;
    return ::stat(path.c_str(), &status) == 0 ? 0 : errno;
  });
  wait_until([&] { return mounted_->count(&ChannelCounters::slot_stalls) >= 1; });
  mounted_->on_shard([&] { EXPECT_EQ(mounted_->slots().available(), 0u); });
  const auto lookups = mounted_->requests(FUSE_LOOKUP);
  answer_first_write();
  EXPECT_EQ(other.wait(), ENOENT) << "received in the slot that came back";
  EXPECT_GT(mounted_->requests(FUSE_LOOKUP), lookups);
  while (held() > 0) answer_first_write();
  for (auto& child : writers) EXPECT_EQ(child->wait(), 0);
}

// INTERRUPT comes by the same read(2) as requests, so without a slot it does not come.
TEST_F(ReceiverTest, WithoutAFreeSlotAKilledCallerIsReleasedAllTheSame) {
  // It has no open file, whose FLUSH would not be read before a slot comes back.
  Child waiter([path = mounted_->path()] {
    struct statfs status;
    return ::statfs(path.c_str(), &status) == 0 ? 0 : errno;
  });
  wait_for_held(1);
  std::vector<std::unique_ptr<Child>> writers;
  for (const char* file : {"held", "held2", "held3"}) {
    writers.push_back(std::make_unique<Child>(writer(1, 'x', file)));
    wait_for_held(1 + writers.size());
  }
  Child other([path = mounted_->path("missing")] {
    struct stat status;
    return ::stat(path.c_str(), &status) == 0 ? 0 : errno;
  });
  wait_until([&] { return count(&ChannelCounters::slot_stalls) >= 1; });
  waiter.send(SIGKILL);
  const int ended = waiter.wait_patiently();
  mounted_->on_shard([&] { files_.held.pop_front(); });
  EXPECT_EQ(ended, -SIGKILL);
  while (held() > 0) answer_first_write();
  for (auto& child : writers) EXPECT_EQ(child->wait(), 0);
  EXPECT_EQ(other.wait(), ENOENT);
}

TEST_F(ReceiverTest, EverySlotComesBack) {
  for (int round = 0; round < 20; ++round) {
    Child child(writer(fuse::kMaxTransfer, 'r'));
    wait_for_held(1);
    answer_first_write();
    EXPECT_EQ(child.wait(), 0);
  }
  mounted_->on_shard([&] { EXPECT_GE(mounted_->slots().available(), kSlots - 1); });
}

TEST_F(ReceiverTest, UnmountFromOutsideEndsIt) {
  mounted_->unmount();
  wait_until([&] { return mounted_->ended(); });
  EXPECT_FALSE(fuse::find_mount(mounted_->path()).has_value());
}

TEST_F(ReceiverTest, UnmountIsNoticedWhileNoSlotIsFree) {
  if (!connections_are_visible()) GTEST_SKIP() << "no /sys/fs/fuse/connections";
  auto writers = take_all_slots();
  const auto device = fuse::find_mount(mounted_->path())->device;
  ASSERT_TRUE(fuse::abort_connection(device));
  wait_until([&] { return mounted_->ended(); });
  for (auto& child : writers) EXPECT_EQ(child->wait(), ECONNABORTED);
}

TEST_F(ReceiverTest, AbortThroughSysfsEndsItAndItsCallers) {
  if (!connections_are_visible()) GTEST_SKIP() << "no /sys/fs/fuse/connections";
  Child child(writer(1, 'x'));
  wait_for_held(1);
  const auto device = fuse::find_mount(mounted_->path())->device;
  ASSERT_TRUE(fuse::abort_connection(device));
  wait_until([&] { return mounted_->ended(); });
  EXPECT_EQ(child.wait(), ECONNABORTED);
  mounted_->on_shard([&] { EXPECT_FALSE(files_.held.front().request.reply_write(1)); });
}

TEST_F(ReceiverTest, PausedItTakesNothingButNoticesTheEnd) {
  if (!connections_are_visible()) GTEST_SKIP() << "no /sys/fs/fuse/connections";
  mounted_->on_shard([&] {
    mounted_->session().pause();
    EXPECT_EQ(mounted_->slots().available(), kSlots) << "its own slot is given back";
  });
  const auto reads = mounted_->count(&ChannelCounters::device_reads);
  Child child([path = mounted_->path("missing")] {
    struct stat status;
    return ::stat(path.c_str(), &status) == 0 ? 0 : errno;
  });
  const auto device = fuse::find_mount(mounted_->path())->device;
  ASSERT_TRUE(fuse::abort_connection(device));
  wait_until([&] { return mounted_->ended(); });
  EXPECT_NE(child.wait(), 0);
  EXPECT_EQ(mounted_->count(&ChannelCounters::device_reads), reads);
}

}  // namespace
}  // namespace nfsrdma::testing
