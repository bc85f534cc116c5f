// READ, WRITE, GETATTR and LOOKUP allocate nothing once warm. Counted is what happens in the
// client: while an operation is started, and while the end of its call is handled.
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "client/mount.h"
#include "client/requests/getattr.h"
#include "client/requests/lookup.h"
#include "client/requests/read.h"
#include "client/requests/write.h"
#include "tests/client/fake_mount.h"
#include "tests/transport/base/allocations.h"

namespace nfsrdma::client::test {
namespace {

using namespace nfs4;
using testing_support::allocations;

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
    std::size_t before = 0;
    std::size_t counted = 0;
    bool in_client = false;
    server_.count_client = [&](bool client) {
      if (in_client) counted += allocations() - before;
      in_client = client;
      before = allocations();
    };
    std::optional<decltype(run(start_operation()))> out;
    server_.count_client(true);
    spawn(store(start_operation(), &out));
    server_.count_client(false);
    while (!out) reactor_.settle();
    server_.count_client = nullptr;
    EXPECT_TRUE(*out);
    return counted;
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
