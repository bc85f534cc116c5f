// P20: the connection of a mount dies under load. There is one connection for each mount: its calls
// go out again on the next one, with slot and number; no other mount notices.
#include <map>

#include "client/requests/create.h"
#include "tests/client/served_mount.h"
#include "tests/pains/crowd.h"
#include "tests/support/counter_of.h"

namespace nfsrdma::client::test {
namespace {

using namespace nfs4;
using std::chrono::seconds;

/// Two more mounts of the same server.
class P20_DeadPath : public ServedMount {
 protected:
  struct Other {
    std::unique_ptr<BufferPool> messages;
    std::unique_ptr<Mount> mount;
  };

  void SetUp() override {
    ServedMount::SetUp();
    for (Other& other : others_) {
      other.messages = make_messages();
      other.mount = make_mount(*other.messages);
      ASSERT_TRUE(run(other.mount->start()));
    }
  }
  void TearDown() override {
    for (Other& other : others_) (void)run(other.mount->stop());
    reactor_.settle();
    for (Other& other : others_) other.mount.reset();
    ServedMount::TearDown();
  }
  void make_directories(Crowd<Made>& crowd, Mount& by, const std::string& prefix, int count) {
    for (int i = 0; i < count; ++i) {
      crowd.add(make_directory(by, caller(), by.root(), prefix + std::to_string(i), 0755));
    }
  }

  std::array<Other, 2> others_;
};

TEST_F(P20_DeadPath, CallsGoOnOnTheNextConnectionAndOthersDoNotNotice) {
  constexpr int kRounds = 20;
  constexpr int kCalls = 30;
  int made = 0;
  for (int round = 0; round < kRounds; ++round) {
    const std::size_t first = server_.arrivals().size();
    const int connection = round + (round == 0 ? 1 : 3);  // three mounts have one each
    int seen = 0;
    server_.fate = [&](const Arrival& arrival) {
      if (arrival.connection != connection || !arrival.has(OP_CREATE)) return Fate::answer;
      // One call of the round is executed and its answer lost; those behind it are not executed.
      return ++seen == 1 + round % 5 ? Fate::disconnect_after : Fate::answer;
    };
    const TimePoint begun = reactor_.now();
    Crowd<Made> calls;
    make_directories(calls, mount(), "a" + std::to_string(round) + "-", kCalls);
    Crowd<Made> of_others;
    make_directories(of_others, *others_[0].mount, "b" + std::to_string(round) + "-", kCalls);
    make_directories(of_others, *others_[1].mount, "c" + std::to_string(round) + "-", kCalls);
    reactor_.settle();
    of_others.expect_success();
    reactor_.advance(seconds(5));
    server_.fate = nullptr;
    calls.expect_success();
    EXPECT_LE(reactor_.now() - begun, seconds(5));
    made += 3 * kCalls;
    EXPECT_EQ(server_.successes_of(OP_CREATE), made) << "each once";

    // What was sent and not answered has the same slot and number, and the same bytes.
    std::map<std::uint32_t, const Arrival*> by_xid;
    int repeated = 0;
    for (std::size_t i = first; i < server_.arrivals().size(); ++i) {
      const Arrival& arrival = server_.arrivals()[i];
      const auto [place, fresh] = by_xid.emplace(arrival.xid, &arrival);
      if (fresh || place->second->bytes != arrival.bytes) continue;
      ++repeated;
      EXPECT_NE(place->second->connection, arrival.connection);
      EXPECT_EQ(place->second->sequence->sa_slotid, arrival.sequence->sa_slotid);
      EXPECT_EQ(place->second->sequence->sa_sequenceid, arrival.sequence->sa_sequenceid);
    }
    EXPECT_GE(repeated, 1);
    if (HasFailure()) return;
  }
  EXPECT_EQ(counter("reconnects"), static_cast<std::uint64_t>(kRounds));
  EXPECT_EQ(counter("session_losses"), 0U);
  for (const Other& other : others_) {
    EXPECT_EQ(testing::counter_of(*other.mount, "reconnects"), 0U);
    EXPECT_EQ(testing::counter_of(*other.mount, "session_requests_resent"), 0U);
  }
}

}  // namespace
}  // namespace nfsrdma::client::test
