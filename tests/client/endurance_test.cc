// What a mount costs while it lasts: nothing is lost or gathered in a day without work, by a
// thousand lost connections, or by several mounts that begin at the same moment.
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <vector>

#include "client/files/open_files.h"
#include "client/requests/getattr.h"
#include "client/session/session.h"
#include "tests/client/served_mount.h"
#include "tests/support/counter_of.h"
#include "transport/base/log.h"

namespace nfsrdma::client::test {
namespace {

using namespace nfs4;
using std::chrono::hours;

class Endurance : public ServedMount {
 protected:
  std::uint64_t at_server(std::string_view name) {
    return testing::counter_of(server_.service(), name);
  }
  /// Bytes in use, this program over.
  std::size_t heap() {
    server_.forget_arrivals();
    return ::mallinfo2().uordblks;
  }
  void expect_at_rest() {
    EXPECT_EQ(counter("session_slots_in_use"), 0U);
    EXPECT_EQ(counter("session_slots_usable"), kSlots);
    EXPECT_EQ(counter("session_losses"), 0U);
    EXPECT_EQ(messages_->available(), idle_messages_);
    EXPECT_EQ(at_server("nfs.clients"), 1U);
    EXPECT_EQ(at_server("nfs.sessions"), 1U);
  }
  void SetUp() override {
    log::set_level(log::Level::error);
    ServedMount::SetUp();
    reactor_.settle();
    idle_messages_ = messages_->available();
  }

  std::size_t idle_messages_ = 0;
};

TEST_F(Endurance, ADayWithoutWorkKeepsTheLeaseAndGathersNothing) {
  server_.write_file("f", "content");
  Opened file = open_file("f", OPEN4_SHARE_ACCESS_READ);
  const std::uint64_t client = mount().clientid();
  reactor_.advance(hours(1));
  const std::size_t messages = messages_->available();
  const std::uint64_t renewals = counter("lease_renewals");
  const std::size_t timers = reactor_.timers_armed();
  const std::size_t before = heap();
  constexpr int kMoreHours = 23;
  for (int hour = 0; hour < kMoreHours; ++hour) {
    reactor_.advance(hours(1));
    server_.forget_arrivals();
  }
  EXPECT_EQ(heap(), before);
  EXPECT_EQ(reactor_.timers_armed(), timers);
  EXPECT_EQ(messages_->available(), messages);
  // One renewal each two thirds of a lease, no more and hardly less.
  const std::uint64_t expected = kMoreHours * hours(1) / (kLease * 2 / 3);
  const std::uint64_t done = counter("lease_renewals") - renewals;
  EXPECT_GE(done, expected - kMoreHours);
  EXPECT_LE(done, expected + 1);
  EXPECT_EQ(counter("lease_renewal_failures"), 0U);
  EXPECT_EQ(at_server("nfs.expired_clients"), 0U);
  EXPECT_EQ(mount().clientid(), client);
  EXPECT_EQ(counter("recovery_client_ids"), 1U);
  auto text = read_text(file);
  ASSERT_TRUE(text) << text.error().message();
  EXPECT_EQ(*text, "content");
}

TEST_F(Endurance, AThousandLostConnectionsLeaveNothingBehind) {
  constexpr int kWarm = 10;
  constexpr int kCycles = 1000;
  const FileHandle handle = root();
  for (int cycle = 0; cycle < kCycles; ++cycle) {
    // Some break with a request in flight.
    Pending<Result<Attributes>> asked(getattr(mount(), caller(), handle));
    if (cycle % 2 == 0) reactor_.settle();
    server_.disconnect();
    auto attributes = finish(asked);
    ASSERT_TRUE(attributes) << "cycle " << cycle << ": " << attributes.error().message();
    attributes = run(getattr(mount(), caller(), handle));
    ASSERT_TRUE(attributes) << "cycle " << cycle << ": " << attributes.error().message();
    server_.forget_arrivals();
    if (cycle == kWarm) idle_messages_ = messages_->available();
  }
  reactor_.advance(kLease);
  EXPECT_EQ(counter("reconnects"), static_cast<std::uint64_t>(kCycles));
  EXPECT_EQ(counter("recovery_client_ids"), 1U);
  EXPECT_EQ(counter("session_requests_uncertain"), 0U);
  expect_at_rest();
}

TEST_F(Endurance, FourMountsOfOneMomentAreFourClients) {
  constexpr std::size_t kMounts = 4;
  std::vector<std::unique_ptr<BufferPool>> pools;
  std::vector<std::unique_ptr<Mount>> mounts;
  std::vector<std::unique_ptr<Pending<Result<void>>>> starting;
  for (std::size_t i = 0; i < kMounts; ++i) {
    pools.push_back(make_messages());
    mounts.push_back(make_mount(*pools.back()));
  }
  for (auto& mount : mounts) {
    starting.push_back(std::make_unique<Pending<Result<void>>>(mount->start()));
  }
  std::set<clientid4> clients{mount().clientid()};
  for (std::size_t i = 0; i < kMounts; ++i) {
    auto started = finish(*starting[i]);
    ASSERT_TRUE(started) << started.error().message();
    clients.insert(mounts[i]->clientid());
  }
  EXPECT_EQ(clients.size(), kMounts + 1);
  // None has pushed another one out, then or later.
  reactor_.advance(2 * kLease);
  for (auto& mount : mounts) {
    auto attributes = run(getattr(*mount, caller(), mount->root()));
    EXPECT_TRUE(attributes) << attributes.error().message();
    EXPECT_EQ(testing::counter_of(*mount, "session_losses"), 0U);
    EXPECT_EQ(testing::counter_of(*mount, "recovery_client_ids"), 1U);
  }
  EXPECT_EQ(at_server("nfs.clients"), kMounts + 1);
  EXPECT_EQ(at_server("nfs.sessions"), kMounts + 1);
  for (std::size_t i = 0; i < kMounts; ++i) {
    auto stopped = run(mounts[i]->stop());
    EXPECT_TRUE(stopped) << stopped.error().message();
    mounts[i].reset();
    reactor_.settle();
    EXPECT_EQ(pools[i]->available(), Mount::message_slots(kSlots));
  }
  expect_at_rest();
}

}  // namespace
}  // namespace nfsrdma::client::test
