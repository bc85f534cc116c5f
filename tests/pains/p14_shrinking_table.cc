// P14: the server takes almost all slots back and gives them out again, under load.
#include "client/requests/getattr.h"
#include "tests/pains/crowd.h"

namespace nfsrdma::client::test {
namespace {

using namespace nfs4;

class P14_ShrinkingSlotTable : public FakeMount {
 protected:
  static constexpr std::uint32_t kTable = 64;
  static constexpr int kUsers = 100;

  /// Asks again and again, until `requests_` are used up.
  Task<Result<void>> use() {
    while (requests_ > 0) {
      --requests_;
      auto attributes = co_await getattr(mount(), {}, handle(1));
      CO_TRY(attributes);
    }
    co_return Result<void>{};
  }

  /// As a server does it: slots are forgotten when the client has stopped to use them.
  Fate serve(const Arrival& arrival) {
    if (!arrival.sequence) return Fate::answer;
    most_used_ = std::max(most_used_, arrival.sequence->sa_slotid);
    ++calls_;
    if (calls_ % 500 == 250) server_.target_highest_slotid = 0;
    if (server_.target_highest_slotid == 0U && arrival.sequence->sa_highest_slotid == 0) {
      server_.retire_slots_above(0);
      shrunk_ += shrunk_at_ != calls_ / 500 ? 1 : 0;
      shrunk_at_ = calls_ / 500;
      if (calls_ % 500 > 400 || calls_ % 500 < 250) server_.target_highest_slotid = kTable - 1;
    }
    return Fate::answer;
  }

  int requests_ = 20'000;
  int calls_ = 0;
  int shrunk_ = 0;
  int shrunk_at_ = -1;
  slotid4 most_used_ = 0;
};

// No request sleeps, no session is lost, and the whole table is used in between.
TEST_F(P14_ShrinkingSlotTable, From64ToOneAndBackUnderLoad) {
  configure({}, kTable);
  start();
  server_.fate = [this](const Arrival& arrival) { return serve(arrival); };
  const TimePoint begun = reactor_.now();
  Crowd<void> users;
  for (int i = 0; i < kUsers; ++i) users.add(use());
  reactor_.settle();
  users.expect_success();
  EXPECT_EQ(reactor_.now(), begun) << "a request has waited for a timer";
  EXPECT_GE(shrunk_, 10);
  EXPECT_GE(most_used_, kTable - 2);
  EXPECT_EQ(counter("session_losses"), 0U);
  EXPECT_EQ(counter("session_requests_delayed"), 0U);
  EXPECT_EQ(counter("session_slots_in_use"), 0U);
}

// CB_RECALL_SLOT says the same at once, without waiting for a request's answer.
TEST_F(P14_ShrinkingSlotTable, AServerWithOneSlotIsUsedOneRequestAtATime) {
  start();
  server_.target_highest_slotid = 0;
  ASSERT_TRUE(run(getattr(mount(), {}, handle(1))));
  int held = 0;
  server_.fate = [&held](const Arrival&) {
    ++held;
    return Fate::hold;
  };
  Crowd<Attributes> users;
  for (int i = 0; i < kUsers; ++i) users.add(getattr(mount(), {}, handle(1)));
  reactor_.settle();
  EXPECT_EQ(held, 1);
  server_.fate = nullptr;
  server_.release();
  reactor_.settle();
  users.expect_success();
}

}  // namespace
}  // namespace nfsrdma::client::test
