// Writes of the same bytes one after another, all others side by side.
#include "cache/data/write_order.h"

#include <gtest/gtest.h>

#include <cctype>
#include <memory>
#include <string>

#include "tests/support/virtual_reactor.h"
#include "transport/base/task.h"

namespace nfsrdma::cache {
namespace {

using namespace std::chrono_literals;
using Kind = WriteOrder::Kind;

class WriteOrderTest : public ::testing::Test {
 protected:
  /// Notes when it is sent and when it is answered.
  Task<void> write(char name, Kind kind, std::uint64_t offset, std::size_t length, Duration stay,
                   WriteOrder::Place place = WriteOrder::Place::anywhere) {
    WriteOrder::Turn turn(*order, kind, offset, length, place);
    co_await turn;
    story += name;
    co_await Sleep(reactor, stay);
    story += static_cast<char>(std::tolower(name));
  }
  Task<void> read(std::uint64_t offset, std::size_t length) {
    WriteOrder::Reading reading(*order, offset, length);
    co_await reading;
    story += '.';
  }
  Task<void> look(std::size_t most) {
    WriteOrder::Look look(*order, most);
    co_await look;
    story += '.';
  }

  VirtualReactor reactor;
  std::unique_ptr<WriteOrder> order = std::make_unique<WriteOrder>(reactor);
  std::string story;
};

TEST_F(WriteOrderTest, OtherBytesGoSideBySide) {
  spawn(write('A', Kind::gathered, 0, 10, 2s));
  spawn(write('B', Kind::gathered, 10, 10, 1s));
  EXPECT_EQ(story, "AB");
  reactor.advance(5s);
  EXPECT_EQ(story, "ABba");
}

TEST_F(WriteOrderTest, TheSameBytesGoInOrderOfArrival) {
  spawn(write('A', Kind::gathered, 0, 10, 1s));
  spawn(write('B', Kind::direct, 9, 10, 1s));
  spawn(write('C', Kind::gathered, 0, 20, 1s));
  spawn(write('D', Kind::direct, 30, 1, 0s));
  EXPECT_EQ(story, "ADd");
  reactor.advance(10s);
  EXPECT_EQ(story, "ADdaBbCc");
}

TEST_F(WriteOrderTest, AnAppendGoesAfterAllEarlierOnes) {
  spawn(write('A', Kind::gathered, 0, 10, 2s, WriteOrder::Place::at_end));
  spawn(write('B', Kind::direct, 10, 10, 1s, WriteOrder::Place::at_end));
  spawn(write('C', Kind::direct, 90, 10, 1s));
  spawn(write('D', Kind::gathered, 20, 10, 1s, WriteOrder::Place::at_end));
  EXPECT_EQ(story, "AC");
  reactor.advance(10s);
  EXPECT_EQ(story, "ACcaBbDd");
}

TEST_F(WriteOrderTest, OneThatWaitsKeepsLaterOnesBehind) {
  spawn(write('A', Kind::gathered, 0, 10, 1s));
  spawn(write('B', Kind::gathered, 5, 10, 1s));
  spawn(write('C', Kind::gathered, 12, 10, 1s));
  EXPECT_EQ(story, "A");
  reactor.advance(10s);
  EXPECT_EQ(story, "AaBbCc");
}

TEST_F(WriteOrderTest, AReadWaitsForWritesOfItsBytesOfItsTimeAndKeepsNobodyBehind) {
  spawn(write('A', Kind::direct, 0, 10, 2s));
  spawn(write('B', Kind::gathered, 10, 10, 9s));
  spawn(read(5, 5));
  spawn(read(20, 5));
  EXPECT_EQ(story, "AB.");
  spawn(write('C', Kind::direct, 20, 10, 1s));
  EXPECT_EQ(story, "AB.C");
  reactor.advance(5s);
  EXPECT_EQ(story, "AB.Cca.");
  reactor.advance(5s);
}

TEST_F(WriteOrderTest, ALookWaitsForTheGatheredOnesOfItsTime) {
  spawn(write('D', Kind::direct, 50, 10, 9s));
  spawn(look(0));
  EXPECT_EQ(story, "D.");
  spawn(write('A', Kind::gathered, 0, 10, 2s));
  spawn(look(0));
  spawn(write('B', Kind::gathered, 20, 10, 5s));
  EXPECT_EQ(story, "D.AB");
  reactor.advance(3s);
  EXPECT_EQ(story, "D.ABa.");
  reactor.advance(10s);
}

TEST_F(WriteOrderTest, ALookMayBeContentWithFewer) {
  spawn(write('A', Kind::gathered, 0, 10, 1s));
  spawn(write('B', Kind::gathered, 10, 10, 9s));
  spawn(look(1));
  EXPECT_EQ(story, "AB");
  reactor.advance(2s);
  EXPECT_EQ(story, "ABa.");
  reactor.advance(10s);
}

TEST_F(WriteOrderTest, KnowsHowFarAnsweredWritesReach) {
  EXPECT_EQ(order->gathered_end(), 0u);
  spawn(write('A', Kind::gathered, 100, 10, 2s));
  spawn(write('B', Kind::gathered, 0, 10, 2s));
  spawn(write('D', Kind::direct, 500, 10, 2s));
  EXPECT_EQ(order->gathered(), 2u);
  EXPECT_EQ(order->gathered_end(), 110u);
  reactor.advance(5s);
  EXPECT_EQ(order->gathered(), 0u);
  EXPECT_EQ(order->gathered_end(), 0u);
}

TEST_F(WriteOrderTest, KnowsWhichNeedACommit) {
  spawn(write('A', Kind::gathered, 0, 10, 1s));
  spawn(write('B', Kind::durable, 20, 10, 3s));
  spawn(write('C', Kind::durable, 25, 10, 1s));
  EXPECT_EQ(story, "AB") << "in order, too";
  EXPECT_EQ(order->gathered(), 3u);
  EXPECT_EQ(order->unstable(), 1u);
  EXPECT_EQ(order->gathered_end(), 35u);
  reactor.advance(2s);
  EXPECT_EQ(order->gathered(), 2u);
  EXPECT_EQ(order->unstable(), 0u);
  reactor.advance(5s);
}

TEST_F(WriteOrderTest, TheLastOneMayTakeItAlong) {
  spawn(write('A', Kind::gathered, 0, 10, 1s));
  struct Owner {
    static Task<void> last(std::unique_ptr<WriteOrder>& owned) {
      {
        WriteOrder::Look look(*owned, 0);
        co_await look;
      }
      owned.reset();
    }
  };
  spawn(Owner::last(order));
  reactor.advance(5s);
  EXPECT_EQ(order, nullptr);
}

}  // namespace
}  // namespace nfsrdma::cache
