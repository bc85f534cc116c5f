// FUSE over io_uring on a real mount: what comes over which channel, more requests than entries,
// slots, the end.
#include "fuse/channel/ring_receiver.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/fuse.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <future>
#include <thread>
#include <vector>

#include "fuse/channel/mount_table.h"
#include "fuse/channel/ring.h"
#include "fuse/channel/unmount.h"
#include "tests/fuse/channel/child.h"
#include "tests/fuse/channel/holding_test.h"
#include "tests/fuse/channel/io_uring_offer.h"

namespace nfsrdma::testing {
namespace {

using fuse::ChannelCounters;

class RingReceiverTest : public HoldingTest {
 protected:
  /// Too few for entries with slots behind them; RingSlotsTest has more.
  static constexpr std::size_t kSlots = 3;

  explicit RingReceiverTest(std::size_t slots = kSlots) : slots_(slots) {}

  void SetUp() override {
    auto reason = reason_not_to_mount();
    if (reason.empty()) reason = offer_.reason_against();
    if (!reason.empty()) GTEST_SKIP() << reason;
    files_.add("plain", 0);
    mount(slots_, true);
  }

  /// A process that asks for a name that there is not.
  int look_up() {
    Child child([path = mounted_->path("missing")] {
      struct stat status;
      return ::stat(path.c_str(), &status) == 0 ? 0 : errno;
    });
    return child.wait();
  }

  /// A process that writes one byte to a file.
  std::unique_ptr<Child> writer(const char* file) {
    return std::make_unique<Child>([path = mounted_->path(file)] {
      const int fd = ::open(path.c_str(), O_WRONLY);
      return ::write(fd, "x", 1) == 1 ? 0 : errno;
    });
  }

  /// One of a file that is read in requests of its own size.
  std::unique_ptr<Child> reader(std::size_t size) {
    return std::make_unique<Child>([path = file_.c_str(), size] {
      alignas(4096) static std::array<char, fuse::kMaxTransfer> data;
      const int fd = ::open(path, O_RDONLY);
      if (::read(fd, data.data(), size) != static_cast<ssize_t>(size)) return errno;
      return data[0] == 'n' && data[size - 1] == 'n' ? 0 : EILSEQ;
    });
  }

  const std::size_t slots_;
  IoUringOffer offer_;
};

/// While this lives the process can have one more open file.
class OneMoreFile {
 public:
  OneMoreFile() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const int next = ::dup(0);
    ::close(next);
    rlimit limit = before_;
    limit.rlim_cur = static_cast<rlim_t>(next) + 1;
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
  ~OneMoreFile() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

TEST(RingReceiver, GivesItsSlotsBackWhereItCannotBeSetUp) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "UBSan opens a pipe to find out whether an object can be read";
#endif
  constexpr std::size_t kSlots = 128;
  const auto reactor = make_epoll_reactor();
  auto slots = BufferPool::create(1 << 20, kSlots, BufferPool::Mapping::many);
  ASSERT_TRUE(slots) << slots.error().message();
  fuse::InFlight in_flight(*reactor, {}, {});
  {
    const OneMoreFile limited;
    EXPECT_FALSE(fuse::RingReceiver::create(*reactor, **slots, in_flight, -1));
  }
  EXPECT_EQ((*slots)->available(), kSlots);
}

// As many entries as a machine with 512 processors has, each with its completion.
TEST(Ring, MoreEntriesThanTheKernelHasCompletionsFor) {
  constexpr unsigned kFew = 64;
  if (auto few = fuse::Ring::create(-1, kFew); !few) GTEST_SKIP() << few.error().message();
  const auto ring = fuse::Ring::create(-1, 512 * 32 * 8);
  EXPECT_TRUE(ring) << ring.error().message();
}

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
  const auto read_held = [path = file_.c_str()] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    ::sched_setaffinity(0, sizeof one, &one);
    std::array<char, 512> data;
    const int fd = ::open(path, O_RDONLY);
    return ::read(fd, data.data(), data.size()) == ssize_t{data.size()} ? 0 : errno;
  };
  std::vector<std::unique_ptr<Child>> readers;
  for (std::size_t round = 1; round <= kRounds; ++round) {
    for (std::size_t i = 0; i < kTogether; ++i) {
      readers.push_back(std::make_unique<Child>(read_held));
    }
    wait_for_held(round * kTogether);
  }
  EXPECT_EQ(look_up(), ENOENT);
  mounted_->on_shard([&] {
    static const std::array<std::byte, 512> bytes{};
    for (auto& held : files_.held) EXPECT_TRUE(held.request.reply_data(bytes));
    files_.held.clear();
  });
  for (auto& reader : readers) EXPECT_EQ(reader->wait(), 0);
}

TEST_F(RingReceiverTest, WithoutAFreeSlotAWriteWaitsUntilOneComesBack) {
  std::vector<std::unique_ptr<Child>> writers;
  for (const char* file : {"held", "held2", "held3"}) writers.push_back(writer(file));
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

// For the kernel a request that waits for a slot is sent: it says nothing to its caller before the
// answer.
TEST_F(RingReceiverTest, WithoutAFreeSlotOthersAreServedAndAKilledCallerIsReleased) {
  std::vector<std::unique_ptr<Child>> writers;
  for (const char* file : {"held", "held2"}) writers.push_back(writer(file));
  wait_for_held(2);
  const auto waits = writer("held3");
  wait_until([&] { return count(&ChannelCounters::slot_stalls) >= 1; });
  Child other([path = mounted_->path("missing")] {
    struct stat status;
    return ::stat(path.c_str(), &status) == 0 ? 0 : errno;
  });
  const int looked_up = other.wait_patiently();
  waits->send(SIGKILL);
  const int killed = waits->wait_patiently();
  mounted_->on_shard([&] {
    for (auto& held : files_.held) EXPECT_TRUE(held.request.reply_write(1));
    files_.held.clear();
  });
  EXPECT_EQ(looked_up, ENOENT);
  EXPECT_EQ(killed, -SIGKILL);
  for (auto& writer : writers) EXPECT_EQ(writer->wait(), 0);
  EXPECT_EQ(look_up(), ENOENT);
  EXPECT_EQ(held(), 0U) << "what has been answered is not served when a slot comes back";
}

TEST_F(RingReceiverTest, AKilledCallerIsAnsweredWhileItsOperationGoesOn) {
  Child child([path = file_.c_str()] {
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

/// R, S, D ... of /proc/PID/stat; 0: it is gone.
char state_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string number, name;
  char state = 0;
  file >> number >> name >> state;
  return state;
}

// The kernel notes a signal that comes before this program has the request, and sends no INTERRUPT
// for it afterwards (fs/fuse/dev_uring.c of Linux 6.18); over /dev/fuse it does.
TEST_F(RingReceiverTest, ACallerThatIsKilledBeforeItsRequestCameIsReleased) {
  Child child([path = mounted_->path("plain")] {
    const int fd = ::open(path.c_str(), O_RDWR);
    ::raise(SIGSTOP);
    struct flock lock {};
    lock.l_type = F_WRLCK;
    return ::fcntl(fd, F_SETLKW, &lock) == 0 ? 0 : errno;
  });
  wait_until([&] { return state_of(child.pid()) == 'T'; });
  std::promise<void> busy, killed;
  std::thread shard([&] {
    mounted_->on_shard([&] {
      busy.set_value();
      killed.get_future().wait();
    });
  });
  busy.get_future().wait();
  child.send(SIGCONT);
  wait_until([&] {
    std::string where;
    std::ifstream("/proc/" + std::to_string(child.pid()) + "/wchan") >> where;
    return where == "request_wait_answer";
  });
  child.send(SIGKILL);
  wait_until([&] { return state_of(child.pid()) == 'D'; });
  killed.set_value();
  shard.join();
  EXPECT_EQ(child.wait(), -SIGKILL);
}

// With the ring's memory a child would keep the connection alive when this program is killed.
TEST_F(RingReceiverTest, AChildDoesNotInheritIt) {
  const auto maps_of_rings = [] {
    std::ifstream maps("/proc/self/maps");
    int count = 0;
    for (std::string line; std::getline(maps, line);) count += line.find("io_uring") != line.npos;
    return count;
  };
  EXPECT_GT(maps_of_rings(), 0);
  Child child(maps_of_rings);
  EXPECT_EQ(child.wait(), 0);
}

TEST_F(RingReceiverTest, AbortEndsItAndItsCallers) {
  if (!connections_are_visible()) GTEST_SKIP() << "no /sys/fs/fuse/connections";
  Child child([path = file_.c_str()] {
    char byte;
    const int fd = ::open(path, O_RDONLY);
    return ::read(fd, &byte, 1) == 1 ? 0 : errno;
  });
  wait_for_held(1);
  ASSERT_TRUE(fuse::abort_connection(fuse::find_mount(mounted_->path())->device));
  wait_until([&] { return mounted_->ended(); });
  EXPECT_EQ(child.wait(), ECONNABORTED);
}

class RingSlotsTest : public RingReceiverTest {
 protected:
  RingSlotsTest() : RingReceiverTest(64) { files_.hold_read_slots = true; }
};

TEST_F(RingSlotsTest, WhatAnOperationPlacesInItsSlotIsNotCopied) {
  for (const std::size_t size : {std::size_t{4096}, fuse::kMaxTransfer}) {
    const auto child = reader(size);
    wait_for_held(1);
    const auto copied = count(&ChannelCounters::ring_bytes_copied);
    mounted_->on_shard([&] {
      auto& held = files_.held.front();
      std::ranges::fill(held.slot.first(size), std::byte{'n'});
      EXPECT_TRUE(held.request.reply_data(held.slot.first(size)));
      EXPECT_EQ(mounted_->count(&ChannelCounters::ring_bytes_copied), copied);
      files_.held.clear();
    });
    EXPECT_EQ(child->wait(), 0);
  }
}

TEST_F(RingSlotsTest, WhatLiesFurtherBehindInItArrivesTheSame) {
  constexpr std::size_t kSize = 8192;
  const auto child = reader(kSize);
  wait_for_held(1);
  mounted_->on_shard([&] {
    auto& held = files_.held.front();
    const auto data = held.slot.bytes().subspan(kSize / 2, kSize);
    std::ranges::fill(data, std::byte{'n'});
    EXPECT_TRUE(held.request.reply_data(data));
    files_.held.clear();
  });
  EXPECT_EQ(child->wait(), 0);
}

// I3: what the network may still write to is not what the kernel is given for its next request.
TEST_F(RingSlotsTest, AnOperationThatGoesOnAfterTheAnswerKeepsItsSlot) {
  constexpr std::size_t kSize = 65536;
  std::size_t available = 0;
  mounted_->on_shard([&] { available = mounted_->slots().available(); });
  const auto killed = reader(kSize);
  wait_for_held(1);
  killed->send(SIGKILL);
  EXPECT_EQ(killed->wait(), -SIGKILL);
  wait_until([&] { return count(&ChannelCounters::ring_slots_kept) == 1; });
  mounted_->on_shard([&] { std::ranges::fill(files_.held.front().slot.bytes(), std::byte{'k'}); });
  for (int again = 0; again < 4; ++again) {
    const auto other = reader(kSize);
    wait_for_held(2);
    mounted_->on_shard([&] {
      auto& held = files_.held.back();
      EXPECT_NE(held.slot.data(), files_.held.front().slot.data());
      std::ranges::fill(held.slot.first(kSize), std::byte{'n'});
      EXPECT_TRUE(held.request.reply_data(held.slot.first(kSize)));
      files_.held.pop_back();
    });
    EXPECT_EQ(other->wait(), 0);
  }
  mounted_->on_shard([&] {
    const auto bytes = files_.held.front().slot.bytes();
    EXPECT_TRUE(std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{'k'}; }));
    files_.held.clear();
    EXPECT_EQ(mounted_->slots().available(), available);
  });
}

TEST_F(RingSlotsTest, AnAnswerOutOfAKeptSlotArrives) {
  constexpr std::size_t kSize = 65536;
  const auto child = reader(kSize);
  wait_for_held(1);
  Buffer kept;
  mounted_->on_shard([&] {
    auto& held = files_.held.front();
    std::ranges::fill(held.slot.first(kSize), std::byte{'n'});
    EXPECT_TRUE(held.request.reply_data(held.slot.first(kSize)));
    kept = std::move(held.slot);
    files_.held.clear();
  });
  EXPECT_EQ(child->wait(), 0);
  EXPECT_EQ(count(&ChannelCounters::ring_slots_kept), 1u);
  mounted_->on_shard([&] { kept.reset(); });
}

TEST_F(RingSlotsTest, OnlyAWriteThatIsKeptIsCopiedFirst) {
  for (const std::size_t size : {std::size_t{4096}, fuse::kMaxTransfer}) {
    const bool large = size == fuse::kMaxTransfer;
    const auto copied = count(&ChannelCounters::ring_bytes_copied);
    Child child([path = file_.c_str(), size] {
      alignas(4096) static char data[fuse::kMaxTransfer];
      const int fd = ::open(path, O_WRONLY);
      return ::write(fd, data, size) == static_cast<ssize_t>(size) ? 0 : errno;
    });
    wait_for_held(1);
    EXPECT_EQ(count(&ChannelCounters::ring_bytes_copied) - copied >= size, large);
    Buffer kept;
    mounted_->on_shard([&] {
      auto& held = files_.held.front();
      EXPECT_EQ(held.data.data(), held.slot.data());
      if (large) kept = std::move(held.slot);
      EXPECT_TRUE(held.request.reply_write(size));
      files_.held.clear();
    });
    EXPECT_EQ(child.wait(), 0);
    EXPECT_EQ(count(&ChannelCounters::ring_slots_kept), 0u);
    mounted_->on_shard([&] { kept.reset(); });
  }
}

// The operation may send the data later, or once more, and gathers small ones after the answer.
TEST_F(RingSlotsTest, TheAnswerOfAWriteIsNotPutOverDataThatAreStillNeeded) {
  constexpr std::size_t kSize = std::size_t{128} << 10;
  Child child([path = file_.c_str()] {
    alignas(4096) static char data[kSize];
    std::memset(data, 'n', sizeof data);
    const int fd = ::open(path, O_WRONLY);
    return ::write(fd, data, sizeof data) == ssize_t{sizeof data} ? 0 : errno;
  });
  wait_for_held(1);
  Buffer kept;
  const auto is_whole = [&] {
    return std::ranges::all_of(kept.first(kSize), [](std::byte b) { return b == std::byte{'n'}; });
  };
  mounted_->on_shard([&] {
    auto& held = files_.held.front();
    kept = std::move(held.slot);
    EXPECT_TRUE(held.request.reply_write(kSize));
    files_.held.clear();
    EXPECT_TRUE(is_whole());
  });
  EXPECT_EQ(child.wait(), 0);
  mounted_->on_shard([&] {
    EXPECT_EQ(mounted_->count(&ChannelCounters::ring_slots_kept), 1u);
    EXPECT_TRUE(is_whole());
    kept.reset();
  });
}

}  // namespace
}  // namespace nfsrdma::testing
