// Captures that begin and end while there are connections.
#include "transport/capture/switch.h"

#include <gtest/gtest.h>
#include <netinet/in.h>

#include <array>
#include <cerrno>
#include <string>

namespace nfsrdma::capture {
namespace {

/// Notes what happens to it.
class NotingSink final : public Sink {
 public:
  explicit NotingSink(std::string& notes) : notes_(notes) {}
  ~NotingSink() override { notes_ += "closed "; }

  std::unique_ptr<Flow> open_flow(const sockaddr&, const sockaddr&, bool, Carried) override {
    notes_ += "begun ";
    return std::make_unique<NotingFlow>(notes_);
  }
  void flush() override { notes_ += "flushed "; }

 private:
  class NotingFlow final : public Flow {
   public:
    explicit NotingFlow(std::string& notes) : notes_(notes) {}
    ~NotingFlow() override { notes_ += "ended "; }
    void sent(std::span<const iovec>, std::size_t bytes) override {
      notes_ += "sent " + std::to_string(bytes) + ' ';
    }
    void received(std::span<const iovec>, std::size_t bytes) override {
      notes_ += "received " + std::to_string(bytes) + ' ';
    }

   private:
    std::string& notes_;
  };

  std::string& notes_;
};

class SwitchTest : public ::testing::Test {
 protected:
  std::unique_ptr<Flow> connect() {
    const sockaddr_in address{.sin_family = AF_INET, .sin_port = 0, .sin_addr = {}, .sin_zero = {}};
    const auto& end = reinterpret_cast<const sockaddr&>(address);
    return switch_.open_flow(end, end, true, Carried::messages);
  }
  void turn_on() { ASSERT_TRUE(switch_.start(std::make_unique<NotingSink>(notes_))); }

  std::string notes_;
  Switch switch_;
};

TEST_F(SwitchTest, RecordsNothingWhileItIsOff) {
  EXPECT_FALSE(switch_.on());
  EXPECT_EQ(connect(), nullptr);
  switch_.flush();
  switch_.stop();
}

TEST_F(SwitchTest, RecordsAConnectionThatIsMadeWhileItIsOn) {
  turn_on();
  EXPECT_TRUE(switch_.on());
  auto flow = connect();
  flow->sent({}, 1);
  flow->received({}, 2);
  switch_.flush();
  EXPECT_EQ(notes_, "begun sent 1 received 2 flushed ");
  flow.reset();
  EXPECT_EQ(notes_, "begun sent 1 received 2 flushed ended ");
}

TEST_F(SwitchTest, EndsTheRecordUnderTheConnection) {
  turn_on();
  auto flow = connect();
  switch_.stop();
  EXPECT_EQ(notes_, "begun ended closed ");
  flow->sent({}, 1);
  flow.reset();
  EXPECT_EQ(notes_, "begun ended closed ");
  turn_on();
  flow = connect();
  switch_.stop();
  EXPECT_EQ(notes_, "begun ended closed begun ended closed ");
}

TEST_F(SwitchTest, OneAtATime) {
  turn_on();
  const auto second = switch_.start(std::make_unique<NotingSink>(notes_));
  ASSERT_FALSE(second);
  EXPECT_TRUE(second.error().is(Layer::local, EBUSY));
  EXPECT_TRUE(switch_.on());
}

}  // namespace
}  // namespace nfsrdma::capture
