// Writes side by side, resending and truncating alone, in the order of arrival.
#include "cache/data/write_gate.h"

#include <gtest/gtest.h>

#include <cctype>
#include <string>

#include "transport/base/task.h"
#include "transport/base/virtual_reactor.h"

namespace nfsrdma::cache {
namespace {

using namespace std::chrono_literals;
using Mode = WriteGate::Mode;

class WriteGateTest : public ::testing::Test {
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
  WriteGate gate{reactor};
  std::string story;
};

TEST_F(WriteGateTest, WritesRunSideBySide) {
  spawn(visit('A', Mode::shared, 2s));
  spawn(visit('B', Mode::shared, 1s));
  EXPECT_TRUE(gate.shared());
  reactor.advance(5s);
  EXPECT_EQ(story, "ABba");
  EXPECT_FALSE(gate.shared());
}

TEST_F(WriteGateTest, AnExclusiveVisitorWaitsForAllAndKeepsAllOut) {
  spawn(visit('A', Mode::shared, 1s));
  spawn(visit('B', Mode::shared, 2s));
  spawn(visit('X', Mode::exclusive, 1s));
  spawn(visit('C', Mode::shared, 1s));
  reactor.advance(10s);
  EXPECT_EQ(story, "ABabXxCc");
}

TEST_F(WriteGateTest, ExclusiveVisitorsComeOneAfterAnother) {
  spawn(visit('X', Mode::exclusive, 1s));
  spawn(visit('Y', Mode::exclusive, 1s));
  reactor.advance(10s);
  EXPECT_EQ(story, "XxYy");
}

TEST_F(WriteGateTest, LaterWritesDoNotOvertakeAWaitingExclusiveVisitor) {
  spawn(visit('A', Mode::shared, 1s));
  spawn(visit('X', Mode::exclusive, 0s));
  spawn(visit('B', Mode::shared, 0s));
  EXPECT_EQ(story, "A");
  reactor.advance(10s);
  EXPECT_EQ(story, "AaXxBb");
}

TEST_F(WriteGateTest, APassThatIsGivenBackEarlyLetsTheNextOneIn) {
  spawn(leave_early());
  spawn(visit('A', Mode::shared, 0s));
  reactor.advance(10s);
  EXPECT_EQ(story, "Aal");
}

}  // namespace
}  // namespace nfsrdma::cache
