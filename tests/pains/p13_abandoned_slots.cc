// P13: a server that never answers some of the calls. Their slots stay theirs; the connection, and
// in the end the session, are made anew before the mount runs out of slots.
#include <random>

#include "client/requests/create.h"
#include "client/requests/getattr.h"
#include "client/session/session.h"
#include "tests/pains/crowd.h"

namespace nfsrdma::client::test {
namespace {

using namespace nfs4;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr seconds kLease{90};

class P13_AbandonedSlots : public FakeMount {
 protected:
  /// Of a soft mount with timeo=100 and no repetition: no caller waits longer for an answer, and
  /// the operation goes on.
  static constexpr seconds kTimeOut{10};
  void begin() {
    MountConfig config;
    config.time_out = kTimeOut;
    configure(config);
    start();
  }
};

// One call in a hundred is executed and never answered, for an hour: the mount lives, all slots are
// in order, and when the server is well again everything has ended within a lease.
TEST_F(P13_AbandonedSlots, AnHourOfLostAnswers) {
  begin();
  std::mt19937 random(13);
  bool lossy = true;
  server_.fate = [&](const Arrival& arrival) {
    const bool unlucky = arrival.has(OP_GETATTR) || arrival.has(OP_CREATE);
    return lossy && unlucky && random() % 100 == 0 ? Fate::hold : Fate::answer;
  };
  Crowd<Made> changes;
  Crowd<Attributes> queries;
  const TimePoint end = reactor_.now() + hours(1);
  TimePoint alive = reactor_.now();
  while (reactor_.now() < end) {
    const std::size_t answered = queries.done() + changes.done();
    for (int i = 0; i < 4; ++i) queries.add(getattr(mount(), {}, handle(1)));
    changes.add(make_directory(mount(), {}, handle(1), "d", 0755));
    reactor_.advance(seconds(1));
    if (queries.done() + changes.done() > answered) alive = reactor_.now();
    ASSERT_LE(reactor_.now() - alive, kLease) << "nothing is answered any more";
  }
  lossy = false;
  reactor_.advance(kLease);
  queries.expect_success();
  changes.expect_success();
  EXPECT_EQ(server_.executions_of(OP_CREATE), changes.size()) << "each once";
  EXPECT_EQ(counter("session_slots_in_use"), 0U);
  EXPECT_EQ(counter("session_losses"), 0U) << "no SEQ_MISORDERED, nor anything like it";
  EXPECT_GT(counter("overdue_connections"), 0U);
}

// One call that is not answered takes the connection of all others only when its time is over.
TEST_F(P13_AbandonedSlots, OneLostAnswerIsWaitedForALease) {
  begin();
  bool lost = false;
  server_.fate = [&](const Arrival& arrival) {
    return arrival.has(OP_CREATE) && !std::exchange(lost, true) ? Fate::hold : Fate::answer;
  };
  Pending<Result<Made>> made(make_directory(mount(), {}, handle(1), "d", 0755));
  reactor_.advance(kLease - seconds(1));
  EXPECT_EQ(counter("reconnects"), 0U);
  EXPECT_FALSE(made.done());
  reactor_.advance(seconds(31));
  ASSERT_TRUE(made.done());
  EXPECT_TRUE(made.value());
  EXPECT_EQ(server_.executions_of(OP_CREATE), 1U) << "the server's replay cache has answered";
  EXPECT_EQ(counter("reconnects"), 1U);
}

// More than half of the slots: a third of a lease is enough, when others have been answered.
TEST_F(P13_AbandonedSlots, MostSlotsAreWaitedForAThirdOfALease) {
  begin();
  bool deaf = true;
  server_.fate = [&](const Arrival& arrival) {
    const bool stays = arrival.has(OP_GETATTR) && !arrival.has(OP_CREATE);
    return deaf && stays ? Fate::hold : Fate::answer;
  };
  Crowd<Attributes> stuck;
  for (std::uint32_t i = 0; i <= kSlots / 2; ++i) stuck.add(getattr(mount(), {}, handle(1)));
  reactor_.advance(seconds(29));
  EXPECT_EQ(counter("reconnects"), 0U);
  EXPECT_TRUE(run(make_directory(mount(), {}, handle(1), "d", 0755)));
  deaf = false;
  reactor_.advance(seconds(20));
  stuck.expect_success();
  EXPECT_EQ(counter("reconnects"), 1U);
  EXPECT_EQ(counter("recovery_sessions"), 1U);
}

// A server that answers nothing, or whose disk stalls, is slow: its replies can still come, and the
// session stays, because a call made anew in another one could be executed twice.
TEST_F(P13_AbandonedSlots, ASlowServerKeepsItsSession) {
  begin();
  bool answers_nobody = true;
  bool disk_stalls = true;
  server_.fate = [&](const Arrival& arrival) {
    const bool no_answer = answers_nobody ? arrival.sequence.has_value() : arrival.has(OP_GETATTR);
    return disk_stalls && no_answer ? Fate::hold : Fate::answer;
  };
  Crowd<Attributes> stuck;
  for (std::uint32_t i = 0; i < kSlots - 1; ++i) stuck.add(getattr(mount(), {}, handle(1)));
  reactor_.advance(hours(1));
  answers_nobody = false;
  reactor_.advance(minutes(4));
  disk_stalls = false;
  reactor_.advance(2 * kLease);
  stuck.expect_success();
  EXPECT_EQ(counter("overdue_sessions"), 0U);
  EXPECT_EQ(counter("recovery_sessions"), 1U);
}

// The server has lost these slots for good: the session is made anew, and the calls begin again.
TEST_F(P13_AbandonedSlots, SlotsThatStaySilentCostTheSession) {
  begin();
  const sessionid4 old = server_.session();
  server_.fate = [&](const Arrival& arrival) {
    const bool of_old = arrival.sequence && arrival.sequence->sa_sessionid == old;
    return of_old && arrival.has(OP_GETATTR) ? Fate::hold : Fate::answer;
  };
  Crowd<Attributes> stuck;
  for (std::uint32_t i = 0; i < kSlots - 1; ++i) stuck.add(getattr(mount(), {}, handle(1)));
  reactor_.advance(6 * kLease);
  stuck.expect_success();
  EXPECT_EQ(server_.executions_of(OP_DESTROY_SESSION), 1U);
  EXPECT_EQ(counter("overdue_sessions"), 1U);
  EXPECT_EQ(counter("recovery_client_ids"), 1U) << "the client id stays";
  EXPECT_EQ(counter("session_slots_in_use"), 0U);
}

// A slot whose request was given up gets a lone SEQUENCE before anything else.
TEST_F(P13_AbandonedSlots, ALoneSequenceComesBeforeTheNextRequest) {
  begin();
  server_.fate = [](const Arrival& arrival) {
    return arrival.has(OP_CREATE) ? Fate::too_large : Fate::answer;
  };
  EXPECT_FALSE(run(make_directory(mount(), {}, handle(1), "d", 0755)));
  const slotid4 slot = server_.arrivals_of(OP_CREATE)[0].sequence->sa_slotid;
  expect_clean_ = false;  // the lone SEQUENCE has, on purpose, the number of another request
  const std::size_t given_up = server_.arrivals().size();
  Crowd<Attributes> others;
  for (std::uint32_t i = 0; i < 3 * kSlots; ++i) others.add(getattr(mount(), {}, handle(1)));
  reactor_.advance(seconds(1));
  for (std::uint32_t i = 0; i < 3 * kSlots; ++i) others.add(getattr(mount(), {}, handle(1)));
  reactor_.advance(seconds(1));
  others.expect_success();
  std::vector<std::vector<nfs_opnum4>> on_the_slot;
  for (std::size_t i = given_up; i < server_.arrivals().size(); ++i) {
    const Arrival& arrival = server_.arrivals()[i];
    if (arrival.sequence && arrival.sequence->sa_slotid == slot) {
      on_the_slot.push_back(arrival.operations);
    }
  }
  ASSERT_GE(on_the_slot.size(), 2U);
  EXPECT_EQ(on_the_slot[0], std::vector{OP_SEQUENCE});
  EXPECT_EQ(counter("session_losses"), 0U);
}

}  // namespace
}  // namespace nfsrdma::client::test
