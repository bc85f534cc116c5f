// P11: what may be locked in memory is invalidated when the pools are registered: it is enough, or
// the error names limit, need and remedy. Nothing is registered afterwards. There is no device
// here: the calls of libibverbs that register memory are this file's own, with the kernel's rule.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "fuse/daemon/memory_shape.h"
#include "transport/base/buffer.h"
#include "transport/fabric/verbs/memory_regions.h"

namespace {

std::map<ibv_mr*, std::size_t> registered;
std::size_t locked = 0;
std::size_t registrations = 0;

ibv_mr* lock_memory(std::size_t length) {
  rlimit limit{};
  ::getrlimit(RLIMIT_MEMLOCK, &limit);
  if (locked + length > limit.rlim_cur) {
    errno = ENOMEM;
    return nullptr;
  }
  auto* region = new ibv_mr{};
  registered[region] = length;
  locked += length;
  ++registrations;
  return region;
}

}  // namespace

#undef ibv_reg_mr
extern "C" {
ibv_mr* ibv_reg_mr(ibv_pd*, void*, std::size_t length, int) { return lock_memory(length); }
ibv_mr* ibv_reg_mr_iova2(ibv_pd*, void*, std::size_t length, std::uint64_t, unsigned) {
  return lock_memory(length);
}
int ibv_dereg_mr(ibv_mr* region) {
  locked -= registered[region];
  registered.erase(region);
  delete region;
  return 0;
}
}

namespace nfsrdma::fabric::verbs {
namespace {

constexpr std::size_t kKibibyte = 1024;
constexpr std::size_t kSlot = 64 * kKibibyte;
constexpr std::size_t kSlots = 16;
/// What this test needs; the usual hard limit of ordinary users.
constexpr std::size_t kEnough = 8192;
constexpr std::size_t kPools = 3;

std::vector<std::unique_ptr<BufferPool>> make_pools() {
  std::vector<std::unique_ptr<BufferPool>> pools;
  for (std::size_t i = 0; i < kPools; ++i) {
    pools.push_back(std::move(*BufferPool::create(kSlot, kSlots)));
  }
  return pools;
}

Result<void> add_all(MemoryRegions& regions, std::vector<std::unique_ptr<BufferPool>>& pools) {
  std::size_t expected = 0;
  for (const auto& pool : pools) expected += pool->memory().size();
  regions.expect(expected);
  for (const auto& pool : pools) TRY(regions.add(pool->memory()));
  return {};
}

/// In a process of its own, because limits cannot be raised again: prints the error, if any.
[[noreturn]] void register_with_limit(std::size_t kibibytes, Tier tier) {
  const rlimit limit{kibibytes * kKibibyte, kibibytes * kKibibyte};
  if (::setrlimit(RLIMIT_MEMLOCK, &limit) != 0) std::exit(2);
  auto pools = make_pools();
  MemoryRegions regions(nullptr, tier);
  auto added = add_all(regions, pools);
  if (added) std::exit(0);
  std::fputs(added.error().message().c_str(), stderr);
  std::exit(1);
}

bool may_lock_enough() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_max >= kEnough * kKibibyte;
}

// 3 MiB of pools, registered once with windows and twice with static keys; and room for queues.
TEST(P11_LockedMemory, IsEnoughOrTheErrorNamesLimitNeedAndRemedy) {
  if (!may_lock_enough()) GTEST_SKIP() << "less than 8 MiB may be locked";
  EXPECT_EXIT(register_with_limit(64, Tier::windows), ::testing::ExitedWithCode(1),
              "RLIMIT_MEMLOCK is 64 KiB, and 7168 KiB are needed: raise it with ulimit -l");
  EXPECT_EXIT(register_with_limit(1024, Tier::windows), ::testing::ExitedWithCode(1),
              "RLIMIT_MEMLOCK is 1024 KiB, and 7168 KiB are needed");
  EXPECT_EXIT(register_with_limit(4096, Tier::static_keys), ::testing::ExitedWithCode(1),
              "RLIMIT_MEMLOCK is 4096 KiB, and 10240 KiB are needed");
  for (const Tier tier : {Tier::windows, Tier::static_keys}) {
    EXPECT_EXIT(register_with_limit(kEnough, tier), ::testing::ExitedWithCode(0), "");
  }
}

/// Prints the shape that fits, or the error.
[[noreturn]] void fit_with_limit(std::size_t kibibytes) {
  const rlimit limit{kibibytes * kKibibyte, kibibytes * kKibibyte};
  if (::setrlimit(RLIMIT_MEMLOCK, &limit) != 0) std::exit(2);
  constexpr std::size_t kMessage = 8 * kKibibyte;
  fuse::MemoryShape shape{.credits = 64};
  const auto fitted = fuse::fit_into_memory(shape, [&]() -> Result<void> {
    std::vector<std::unique_ptr<BufferPool>> pools;
    pools.push_back(std::move(*BufferPool::create(kSlot, shape.data_slots)));
    pools.push_back(std::move(*BufferPool::create(kSlot, shape.reply_slots)));
    pools.push_back(std::move(*BufferPool::create(kMessage, 2 * shape.credits)));
    MemoryRegions regions(nullptr, Tier::windows);
    return add_all(regions, pools);
  });
  if (!fitted) {
    std::fputs(fitted.error().message().c_str(), stderr);
    std::exit(1);
  }
  std::fprintf(stderr, "%u credits, %zu data slots", shape.credits, shape.data_slots);
  std::exit(locked == 0 ? 0 : 3);
}

// Fewer credits and buffers, as many as fit; less than the least is an error that says what that
// needs. Slots are a sixteenth of the real ones.
TEST(P11_LockedMemory, FewerCreditsWhereLessMayBeLocked) {
  if (!may_lock_enough()) GTEST_SKIP() << "less than 8 MiB may be locked";
  EXPECT_EXIT(fit_with_limit(64), ::testing::ExitedWithCode(1),
              "RLIMIT_MEMLOCK is 64 KiB, and 4480 KiB are needed");
  EXPECT_EXIT(fit_with_limit(512), ::testing::ExitedWithCode(0), "^4 credits, 4 data slots");
  EXPECT_EXIT(fit_with_limit(4096), ::testing::ExitedWithCode(0), "^16 credits, 32 data slots");
  EXPECT_EXIT(fit_with_limit(8192), ::testing::ExitedWithCode(0), "^32 credits, 64 data slots");
}

// Whatever is sent and received afterwards finds its region, and registers nothing.
TEST(P11_LockedMemory, NothingIsRegisteredLater) {
  if (!may_lock_enough()) GTEST_SKIP() << "less than 8 MiB may be locked";
  for (const Tier tier : {Tier::windows, Tier::static_keys}) {
    registrations = 0;
    auto pools = make_pools();
    {
      MemoryRegions regions(nullptr, tier);
      ASSERT_TRUE(add_all(regions, pools));
      const std::size_t after_start = registrations;
      EXPECT_EQ(after_start, kPools * (tier == Tier::windows ? 1 : 2));
      for (int i = 0; i < 100'000; ++i) {
        const auto memory = pools[static_cast<std::size_t>(i) % kPools]->memory();
        const std::size_t at = static_cast<std::size_t>(i) * 4096 % (memory.size() - 4096);
        ASSERT_NE(regions.find(memory.data() + at, 4096), nullptr);
      }
      for (const auto& pool : pools) ASSERT_TRUE(regions.add(pool->memory()));
      EXPECT_EQ(registrations, after_start);
    }
    EXPECT_EQ(locked, 0U) << "all of it was given back";
  }
}

}  // namespace
}  // namespace nfsrdma::fabric::verbs
