// READ, WRITE, GETATTR and LOOKUP allocate nothing once warm. Counted is what happens in the
// client: while an operation is started, and while the end of its call is handled.
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <new>

#include "client/mount.h"
#include "client/requests/getattr.h"
#include "client/requests/lookup.h"
#include "client/requests/read.h"
#include "client/requests/write.h"
#include "tests/client/fake_mount.h"

namespace {

thread_local bool counting = false;
thread_local std::size_t allocations = 0;

void* counted(std::size_t size) {
  if (counting) ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  std::abort();
}

}  // namespace

void* operator new(std::size_t size) { return counted(size); }
void* operator new[](std::size_t size) { return counted(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace nfsrdma::client::test {
namespace {

using namespace nfs4;

class HotPath : public FakeMount {
 protected:
  void SetUp() override {
    start();
    server_.on<READ4args, READ4res>([](const READ4args&, READ4res& result) {
      static constexpr std::array<std::byte, 8> kData{};
      result.resok4.data.data = kData;
    });
    server_.on<WRITE4args, WRITE4res>([](const WRITE4args& args, WRITE4res& result) {
      result.resok4.count = static_cast<count4>(args.data.data.size());
    });
  }

  /// Runs the operation a few times, so that every pool is warm, and counts in the next run.
  template <class Start>
  std::size_t allocations_of(Start start_operation) {
    constexpr int kWarm = 8;
    for (int i = 0; i < kWarm; ++i) EXPECT_TRUE(run(start_operation()));
    server_.count_client = [](bool client) { counting = client; };
    allocations = 0;
    std::optional<decltype(run(start_operation()))> out;
    counting = true;
    spawn(store(start_operation(), &out));
    counting = false;
    while (!out) reactor_.settle();
    server_.count_client = nullptr;
    counting = false;
    EXPECT_TRUE(*out);
    return allocations;
  }

  std::array<std::byte, 64> data_{};
};

TEST_F(HotPath, GetattrAllocatesNothing) {
  EXPECT_EQ(allocations_of([this] { return getattr(mount(), {}, handle(1)); }), 0U);
}

TEST_F(HotPath, LookupAllocatesNothing) {
  EXPECT_EQ(
      allocations_of([this] { return lookup(mount(), {}, handle(1), "a-name-of-usual-length"); }),
      0U);
}

TEST_F(HotPath, TheCounterCounts) {
  const std::string long_name(300, 'n');
  EXPECT_GT(allocations_of([&] { return lookup(mount(), {}, handle(1), long_name); }), 0U);
}

TEST_F(HotPath, ReadAllocatesNothing) {
  EXPECT_EQ(allocations_of([this] { return read(mount(), {}, handle(1), {}, 0, data_); }), 0U);
}

TEST_F(HotPath, WriteAllocatesNothing) {
  EXPECT_EQ(
      allocations_of([this] { return write(mount(), {}, handle(1), {}, 0, data_, UNSTABLE4); }),
      0U);
}

}  // namespace
}  // namespace nfsrdma::client::test
