// Writes side by side, resending and truncating alone, in the order of arrival.
#include "transport/base/sync/gate.h"

#include <gtest/gtest.h>

#include <cctype>
#include <string>
#include <vector>

#include "tests/support/virtual_reactor.h"
#include "transport/base/task.h"

namespace nfsrdma {
namespace {

using namespace std::chrono_literals;
using Mode = Gate::Mode;

class GateTest : public ::testing::Test {
 protected:
  /// Stays inside for a while and notes when it comes and goes.
  Task<void> visit(char name, Mode mode, Duration stay) {
    auto pass = co_await gate.enter(mode);
    story += name;
    co_await Sleep(reactor, stay);
    story += static_cast<char>(std::tolower(name));
  }

  Task<void> leave_early() {
    auto pass = co_await gate.enter(Mode::exclusive);
    pass.leave();
    co_await Sleep(reactor, 5s);
    story += 'l';
  }

  VirtualReactor reactor;
  Gate gate{reactor};
  std::string story;
};

TEST_F(GateTest, WritesRunSideBySide) {
  spawn(visit('A', Mode::shared, 2s));
  spawn(visit('B', Mode::shared, 1s));
  EXPECT_TRUE(gate.shared());
  reactor.advance(5s);
  EXPECT_EQ(story, "ABba");
  EXPECT_FALSE(gate.shared());
}

TEST_F(GateTest, AnExclusiveVisitorWaitsForAllAndKeepsAllOut) {
  spawn(visit('A', Mode::shared, 1s));
  spawn(visit('B', Mode::shared, 2s));
  spawn(visit('X', Mode::exclusive, 1s));
  spawn(visit('C', Mode::shared, 1s));
  reactor.advance(10s);
  EXPECT_EQ(story, "ABabXxCc");
}

TEST_F(GateTest, ExclusiveVisitorsComeOneAfterAnother) {
  spawn(visit('X', Mode::exclusive, 1s));
  spawn(visit('Y', Mode::exclusive, 1s));
  reactor.advance(10s);
  EXPECT_EQ(story, "XxYy");
}

TEST_F(GateTest, LaterWritesDoNotOvertakeAWaitingExclusiveVisitor) {
  spawn(visit('A', Mode::shared, 1s));
  spawn(visit('X', Mode::exclusive, 0s));
  spawn(visit('B', Mode::shared, 0s));
  EXPECT_EQ(story, "A");
  reactor.advance(10s);
  EXPECT_EQ(story, "AaXxBb");
}

TEST_F(GateTest, APassThatIsGivenBackEarlyLetsTheNextOneIn) {
  spawn(leave_early());
  spawn(visit('A', Mode::shared, 0s));
  reactor.advance(10s);
  EXPECT_EQ(story, "Aal");
}

TEST_F(GateTest, AHundredThousandComeInOrderAndDoNotGrowTheStack) {
  constexpr int kMany = 100'000;
  std::vector<int> order;
  const auto enter = [&](int number) -> Task<void> {
    auto pass = co_await gate.enter(number % 2 == 0 ? Mode::exclusive : Mode::shared);
    order.push_back(number);
  };
  spawn(visit('A', Mode::exclusive, 1s));
  for (int i = 0; i < kMany; ++i) spawn(enter(i));
  EXPECT_TRUE(order.empty());
  reactor.advance(2s);
  ASSERT_EQ(order.size(), static_cast<std::size_t>(kMany));
  for (int i = 0; i < kMany; ++i) ASSERT_EQ(order[static_cast<std::size_t>(i)], i);
}

}  // namespace
}  // namespace nfsrdma
