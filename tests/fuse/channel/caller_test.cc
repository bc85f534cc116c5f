// Whose groups a request has, where several users share a mount.
#include "fuse/channel/caller.h"

#include <grp.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/fsuid.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <new>

#include "tests/fuse/channel/child.h"
#include "tests/support/virtual_reactor.h"

namespace nfsrdma::fuse::test {
namespace {

class CallersTest : public ::testing::Test {
 protected:
  VirtualReactor reactor_;
  Callers callers_{reactor_, CallerPolicy{}};
};

// A number of a process is used again, and a process may change its user.
TEST_F(CallersTest, TheSameProcessNumberIsNotTheSameCaller) {
  const rpc::Credential first = callers_.credential({1001, 2001, ::getpid()});
  EXPECT_EQ(first.uid, 1001U);
  const rpc::Credential user = callers_.credential({1002, 2001, ::getpid()});
  EXPECT_EQ(user.uid, 1002U);
  const rpc::Credential group = callers_.credential({1002, 2002, ::getpid()});
  EXPECT_EQ(group.gid, 2002U);
}

/// A number that a child shares with its parent: each waits for its turn. No descriptor of the
/// parent stays open in a child.
class Turn {
 public:
  Turn()
      : memory_(::mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS, -1, 0)),
        turn_(*new (memory_) std::atomic<int>(0)) {}
  ~Turn() { ::munmap(memory_, sizeof(std::atomic<int>)); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  void give(int turn) { turn_ = turn; }
  void wait_for(int turn) const {
    while (turn_ != turn) ::sched_yield();
  }

 private:
  void* memory_;
  std::atomic<int>& turn_;
};

TEST_F(CallersTest, GroupsThatAProcessHasGivenUpAreSoonGone) {
  if (::getuid() != 0) GTEST_SKIP() << "only root changes the groups of a process";
  Turn turn;
  nfsrdma::testing::Child child([&turn] {
    const std::array<gid_t, 2> groups{3001, 3002};
    const bool taken = ::setgroups(groups.size(), groups.data()) == 0;
    ::setfsuid(1001);
    turn.give(1);
    turn.wait_for(2);
    const bool given_up = ::setgroups(0, nullptr) == 0;
    turn.give(3);
    turn.wait_for(4);
    return taken && given_up ? 0 : 1;
  });
  turn.wait_for(1);
  const CallerIds ids{1001, 2001, child.pid()};
  EXPECT_EQ(callers_.credential(ids).group_count, 2U);
  turn.give(2);
  turn.wait_for(3);
  reactor_.advance(std::chrono::milliseconds(1500));
  EXPECT_EQ(callers_.credential(ids).group_count, 0U);
  turn.give(4);
  EXPECT_EQ(child.wait(), 0);
}

// Its number is one of another pid namespace.
TEST_F(CallersTest, GroupsOfAProcessOfAnotherUserAreNotTaken) {
  if (::getuid() != 0) GTEST_SKIP() << "only root changes the groups of a process";
  Turn turn;
  nfsrdma::testing::Child child([&turn] {
    const std::array<gid_t, 1> groups{3004};
    const bool taken = ::setgroups(groups.size(), groups.data()) == 0;
    turn.give(1);
    turn.wait_for(2);
    return taken ? 0 : 1;
  });
  turn.wait_for(1);
  EXPECT_EQ(callers_.credential({1001, 2001, child.pid()}).group_count, 0U);
  EXPECT_EQ(callers_.credential({::getuid(), 2001, child.pid()}).group_count, 1U);
  turn.give(2);
  EXPECT_EQ(child.wait(), 0);
}

// overlayfs makes the requests of whoever uses it in the name of the user that has mounted it.
TEST_F(CallersTest, AProcessThatActsForAnotherUserHasThatUsersGroups) {
  if (::getuid() != 0) GTEST_SKIP() << "only root changes the groups of a process";
  Turn turn;
  const auto member = [&turn](std::array<gid_t, 2> groups, int first) {
    return [&turn, groups, first] {
      const bool taken = ::setgroups(groups.size(), groups.data()) == 0 && ::setuid(1001) == 0;
      turn.give(first);
      turn.wait_for(9);
      return taken ? 0 : 1;
    };
  };
  nfsrdma::testing::Child mounter(member({3006, 3007}, 1));
  turn.wait_for(1);
  // This process is root's.
  const CallerIds through{1001, 2001, ::getpid()};
  EXPECT_EQ(callers_.credential(through).group_count, 0U) << "nothing is known of the user";
  EXPECT_EQ(callers_.credential({1001, 2001, mounter.pid()}).group_count, 2U);
  reactor_.advance(std::chrono::milliseconds(1500));
  EXPECT_EQ(callers_.credential(through).group_count, 2U);
  nfsrdma::testing::Child other(member({3007, 3008}, 2));
  turn.wait_for(2);
  EXPECT_EQ(callers_.credential({1001, 2001, other.pid()}).group_count, 2U);
  reactor_.advance(std::chrono::milliseconds(1500));
  const rpc::Credential common = callers_.credential(through);
  EXPECT_EQ(common.group_count, 1U) << "the user may have given up the others";
  EXPECT_EQ(common.groups[0], 3007U);
  nfsrdma::testing::Child file_server([&turn] {
    const std::array<gid_t, 1> own{3099};
    const bool taken = ::setgroups(own.size(), own.data()) == 0 && ::setfsuid(1001) == 0;
    turn.give(3);
    turn.wait_for(9);
    return taken ? 0 : 1;
  });
  turn.wait_for(3);
  EXPECT_EQ(callers_.credential({1001, 2001, file_server.pid()}).groups[0], 3099U);
  reactor_.advance(std::chrono::milliseconds(1500));
  EXPECT_EQ(callers_.credential(through).group_count, 1U) << "root's groups are not the user's";
  Callers foreign(reactor_, CallerPolicy{.foreign_numbers = true});
  foreign.credential({1001, 2001, mounter.pid()});
  EXPECT_EQ(foreign.credential(through).group_count, 0U) << "it may be an unrelated process";
  turn.give(9);
  EXPECT_EQ(mounter.wait(), 0);
  EXPECT_EQ(other.wait(), 0);
  EXPECT_EQ(file_server.wait(), 0);
}

// The groups of this process are those of the session that it was started in.
TEST(GroupsOfCallers, AreNotThoseOfThisProcess) {
  if (::getuid() != 0) GTEST_SKIP() << "only root changes the groups of a process";
  Turn turn;
  nfsrdma::testing::Child child([&turn] {
    const std::array<gid_t, 1> groups{3005};
    const bool taken = ::setgroups(groups.size(), groups.data()) == 0;
    turn.give(1);
    turn.wait_for(2);
    return taken ? 0 : 1;
  });
  turn.wait_for(1);
  const pid_t member = child.pid();
  nfsrdma::testing::Child daemon([member] {
    const std::array<gid_t, 1> groups{3003};
    if (::setgroups(groups.size(), groups.data()) != 0) return 1;
    VirtualReactor reactor;
    const rpc::Credential own = own_credential(reactor, rpc::AuthFlavor::sys);
    if (own.group_count != 1 || own.groups[0] != 3003) return 2;
    Callers callers(reactor, CallerPolicy{});
    const rpc::Credential theirs = callers.credential({::getuid(), 2001, member});
    if (theirs.group_count != 1 || theirs.groups[0] != 3005) return 3;
    // No process: what /proc does not show.
    if (callers.credential({::getuid(), 2001, 0}).group_count != 0) return 4;
    return callers.credential({1001, 2001, 0}).group_count == 0 ? 0 : 5;
  });
  EXPECT_EQ(daemon.wait(), 0);
  turn.give(2);
  EXPECT_EQ(child.wait(), 0);
}

}  // namespace
}  // namespace nfsrdma::fuse::test
