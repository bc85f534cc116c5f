// Delegations that the server wants back, while hostile callbacks come on the same back
// channel: before the true recall, behind it, and around it.
#include <gtest/gtest.h>

#include <cstdio>
#include <vector>

#include "tests/hostile/attack.h"
#include "tests/hostile/callback_burst.h"

namespace nfsrdma::hostile {
namespace {

/// As many as the connection takes at once, but for the true one.
constexpr std::uint32_t kBurst = 7;
/// Some of so many attacks are no refused nonsense.
constexpr int kEnough = 20;

enum class Order { recall_first, recall_last, recall_between };
constexpr std::pair<Order, const char*> kOrders[] = {
    {Order::recall_first, " behind a recall"},
    {Order::recall_last, " before a recall"},
    {Order::recall_between, " around a recall"},
};

std::vector<Callback> all_callbacks() {
  std::vector<Callback> all;
  for (const auto part : {hostile_callbacks(), callbacks_about_a_delegation()}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

/// Sends both; the numbers of hostile callbacks follow those of the server where they come behind.
void recall(HostileMount& mount, const nfs4::nfs_fh4& held, const Callback& callback, Order order,
            Answers& answers) {
  Back back;
  back.delegated = held;
  const auto send = [&](std::uint32_t count) {
    send_callbacks(mount, back, count, callback.encode, answers);
    back.turn += count;
  };
  EXPECT_GT(mount.delegations(), 0U) << "there is something to recall";
  if (order == Order::recall_last) send(kBurst);
  if (order == Order::recall_between) send(kBurst / 2);
  mount.honest().recall_delegations();
  if (order == Order::recall_last) return;
  back.used = 1;
  send(order == Order::recall_first ? kBurst : kBurst / 2);
}

/// The numbers of the back channel begin anew.
void renew_session(HostileMount& mount) {
  mount.honest().destroy_sessions();
  EXPECT_EQ(mount.ask(FUSE_STATFS, FUSE_ROOT_ID).error, 0);
  mount.become_idle();
}

class Recalls : public ::testing::TestWithParam<KernelOperation> {};

TEST_P(Recalls, AmongHostileCallbacks) {
  Attacker attacker({.over = kTransport, .delegations = responder::DelegationKind::write});
  attacker.hold_a_file();
  Answers answers;
  for (const Callback& callback : all_callbacks()) {
    for (const auto& [order, when] : kOrders) {
      const bool done = attacker.attack_in_turn(
          GetParam(), std::string(callback.name) + when, [&](HostileService&) {
            recall(attacker.mount(), attacker.held(), callback, order, answers);
          });
      if (done) renew_session(attacker.mount());
      ASSERT_LE(attacker.failures(), Attacker::kMostFailures);
    }
  }
  std::printf("%d attacks: %d succeeded, %d failed, %d killed; %d answered, %d not\n",
              attacker.attacks(), attacker.succeeded, attacker.failed, attacker.killed,
              answers.answered, answers.unanswered);
  EXPECT_TRUE(answers.answered > 0 || attacker.attacks() < kEnough) << "callbacks arrive";
}

INSTANTIATE_TEST_SUITE_P(Of, Recalls, ::testing::ValuesIn(kernel_operations()),
                         [](const auto& operation) { return operation.param.name; });

class RecalledFile : public ::testing::Test {
 protected:
  RecalledFile() { EXPECT_TRUE(mount_.start()); }
  ~RecalledFile() override { mount_.stop(); }

  /// What an open for reading shows.
  std::string read(Stage& stage) {
    const std::uint64_t handle = stage.open(stage.node, O_RDONLY);
    return stage.read(stage.node, handle, 0, 1U << 14).text();
  }

  HostileMount mount_{
      {.over = kTransport, .delegations = responder::DelegationKind::write, .cached = true}};
};

// What was written under the delegation is at the server when it has gone, and what others write
// then is seen at the next open: whatever else has come on the back channel.
TEST_F(RecalledFile, WhatIsWrittenBeforeAndBehindTheRecall) {
  Answers answers;
  for (const Callback& callback : all_callbacks()) {
    for (const auto& [order, when] : kOrders) {
      const ::testing::ScopedTrace trace(__FILE__, __LINE__, std::string(callback.name) + when);
      Stage stage(mount_);
      stage.make_file();
      stage.node = stage.lookup(stage.file);
      stage.fh = stage.open(stage.node);
      ASSERT_EQ(stage.write(5, "new text").error, 0);
      const nfs4::nfs_fh4 handle = mount_.file_system().inodes().find(stage.node)->handle();
      recall(mount_, handle, callback, order, answers);
      // Returned, or taken away a lease later.
      ASSERT_TRUE(mount_.reactor().run_until([&] { return mount_.delegations() == 0; },
                                             HostileMount::kRecovery));
      std::string wanted = content();
      wanted.replace(5, 8, "new text");
      const Answer synced = mount_.ask(FUSE_FSYNC, stage.node, fuse_fsync_in{.fh = stage.fh});
      EXPECT_TRUE(synced.error != 0 || mount_.read_file(stage.file) == wanted);
      mount_.reactor().advance(std::chrono::seconds(2));  // it is delegated no more for a while
      mount_.write_file(stage.file, "from another client");
      EXPECT_EQ(read(stage), "from another client");
      EXPECT_TRUE(stage.clean_up());
      mount_.honest().recall_delegations();
      mount_.reactor().settle();
      renew_session(mount_);
      ASSERT_FALSE(HasFailure());
    }
  }
  EXPECT_GT(answers.answered, 0);
}

}  // namespace
}  // namespace nfsrdma::hostile
