// A server that executes and answers requests in any order, in virtual time.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "client/requests/create.h"
#include "tests/client/served_mount.h"

namespace nfsrdma::client::test {
namespace {

using std::chrono::milliseconds;

class ReorderedServerTest : public ServedMount {
 protected:
  static constexpr int kAtOnce = static_cast<int>(kSlots);

  /// Makes directories at the same time, and says in which order the answers came. `meanwhile` runs
  /// when some have come.
  std::vector<int> make_directories(const std::string& prefix,
                                    const std::function<void()>& meanwhile = nullptr) {
    std::vector<int> order;
    for (int i = 0; i < kAtOnce; ++i) spawn(make_one(prefix + std::to_string(i), i, order));
    reactor_.advance(milliseconds(2));
    if (meanwhile) meanwhile();
    reactor_.advance(std::chrono::seconds(60));
    EXPECT_EQ(order.size(), static_cast<std::size_t>(kAtOnce)) << "each is answered once";
    return order;
  }
  std::vector<int> order_of(std::uint64_t seed, const std::string& prefix) {
    server_.reorder.emplace(seed);
    return make_directories(prefix);
  }
  int failures_ = 0;

 private:
  Task<void> make_one(std::string name, int number, std::vector<int>& order) {
    auto made = co_await make_directory(mount(), caller(), root(), name, 0755);
    if (!made) ++failures_;
    order.push_back(number);
  }
};

TEST_F(ReorderedServerTest, AnswersOvertakeEachOther) {
  EXPECT_TRUE(std::ranges::is_sorted(make_directories("in order")));
  EXPECT_FALSE(std::ranges::is_sorted(order_of(1, "one")));
}

TEST_F(ReorderedServerTest, TheSameSeedGivesTheSameOrder) {
  const std::vector<int> first = order_of(1, "one");
  EXPECT_EQ(first, order_of(1, "again"));
  EXPECT_NE(first, order_of(2, "two"));
}

// RFC 8881 section 2.10.6: a connection is lost while some were executed and others were not.
TEST_F(ReorderedServerTest, EachSlotIsExecutedOnce) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    server_.reorder.emplace(seed);
    make_directories("seed" + std::to_string(seed) + " ", [this] { server_.disconnect(); });
  }
  EXPECT_EQ(failures_, 0) << "EEXIST: it was executed twice";
  EXPECT_EQ(server_.successes_of(nfs4::OP_CREATE), 20 * kAtOnce);
}

}  // namespace
}  // namespace nfsrdma::client::test
