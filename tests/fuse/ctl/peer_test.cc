// Whose word counts: what another user's process says of itself, against the mount table and /proc.
#include "fuse/ctl/peer.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>

namespace nfsrdma::ctl {
namespace {

constexpr std::string_view kTable =
    "25 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
    "40 25 0:50 / /mnt/a rw,nosuid,nodev shared:7 master:2 - fuse.nfsrdma server:/a "
    "rw,user_id=1000,group_id=1000,max_read=1048576\n"
    "41 25 0:51 / /mnt/with\\040blank rw - fuse.nfsrdma server:/b rw,user_id=1001,group_id=1001\n"
    "42 25 0:52 / /mnt/other rw - fuse.sshfs host: rw,user_id=1000,group_id=1000\n"
    "43 25 0:53 / /mnt/covered rw - fuse.nfsrdma server:/c rw,user_id=1000,group_id=1000\n"
    "44 43 0:54 / /mnt/covered rw - fuse.nfsrdma server:/c rw,user_id=0,group_id=0\n"
    "45 25 0:55 / /mnt/words rw - fuse.nfsrdma server:/d rw,fsname=user_id=7,user_id=1000\n"
    "46 25 0:56 / /mnt/short - fuse.nfsrdma\n"
    "nonsense\n";

TEST(Peer, AMountIsThatOfTheUserIdOfTheTopmostOne) {
  EXPECT_EQ(mounter_of(kTable, "/mnt/a"), 1000u);
  EXPECT_EQ(mounter_of(kTable, "/mnt/with blank"), 1001u);
  EXPECT_EQ(mounter_of(kTable, "/mnt/covered"), 0u) << "the one that programs find there";
  EXPECT_EQ(mounter_of(kTable, "/mnt/words"), 1000u);
  for (const char* none : {"/mnt", "/mnt/a/", "/", "/mnt/other", "/mnt/short", ""}) {
    EXPECT_FALSE(mounter_of(kTable, none)) << none;
  }
  EXPECT_FALSE(mounter_of("", "/mnt/a"));
}

std::string own_id() { return std::to_string(::getpid()); }

/// This process, as if it had another user.
Peer peer_of_user(uid_t user) { return {.user = user, .process = ::getpid(), .begun = 0}; }

TEST(Peer, WhatRootAndTheUserSayCounts) {
  for (const uid_t user : {uid_t{0}, ::geteuid()}) {
    EXPECT_TRUE(check_claim(peer_of_user(user), "1", "/nowhere", kTable)) << user;
  }
}

TEST(Peer, AnothersCountsOnlyForAMountAndAProcessOfThatUser) {
  const uid_t user = ::geteuid() == 1000 ? 1001 : 1000;
  const auto said = check_claim(peer_of_user(user), own_id(), "/mnt/a", kTable);
  ASSERT_FALSE(said) << "this process is not that user's";
  EXPECT_TRUE(said.error().is(Layer::local, EPERM));
  EXPECT_NE(said.error().message().find("user " + std::to_string(user)), std::string::npos);
}

/// A process of that user, which waits until it is killed.
class ProcessOf {
 public:
  explicit ProcessOf(uid_t user) {
    int changed[2];
    EXPECT_EQ(::pipe(changed), 0);
    process_ = ::fork();
    if (process_ == 0) {
      const bool is_users = ::setresuid(user, user, user) == 0;
      if (is_users && ::write(changed[1], "y", 1) == 1) ::pause();
      ::_exit(1);
    }
    ::close(changed[1]);
    char yes = 'n';
    EXPECT_EQ(::read(changed[0], &yes, 1), 1);
    ::close(changed[0]);
  }
  ~ProcessOf() {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
  ProcessOf(const ProcessOf&) = delete;
  ProcessOf& operator=(const ProcessOf&) = delete;

  pid_t id() const { return process_; }

 private:
  pid_t process_ = -1;
};

TEST(Peer, RootBelievesAUserOfTheUsersOwnMountAndProcess) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root has processes of other users";
  constexpr uid_t kUser = 1000;
  const ProcessOf process(kUser);
  const Peer peer{.user = kUser, .process = process.id(), .begun = 0};
  const std::string id = std::to_string(process.id());
  EXPECT_TRUE(check_claim(peer, id, "/mnt/a", kTable));
  EXPECT_FALSE(check_claim(peer, id, "/mnt/with blank", kTable)) << "another user's mount";
  EXPECT_FALSE(check_claim(peer, id, "/mnt/covered", kTable)) << "root's";
  EXPECT_FALSE(check_claim(peer, id, "/nowhere", kTable));
  EXPECT_FALSE(check_claim(peer, own_id(), "/mnt/a", kTable)) << "another process";
  EXPECT_FALSE(check_claim(peer, "", "/mnt/a", kTable));
  const Peer of_another{.user = 1001, .process = process.id(), .begun = 0};
  EXPECT_FALSE(check_claim(of_another, id, "/mnt/with blank", kTable))
      << "the process that listened is gone, and its id another user's";
}

TEST(Peer, IsTheProcessThatListensAndWhenItBegan) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const auto one = peer_of(ends[0]);
  ASSERT_TRUE(one) << one.error().message();
  EXPECT_EQ(one->user, ::geteuid());
  EXPECT_EQ(one->process, ::getpid());
  EXPECT_GT(one->begun, 0u);
  EXPECT_EQ(*peer_of(ends[1]), *one);
  for (const int end : ends) ::close(end);
  EXPECT_FALSE(peer_of(-1));
}

}  // namespace
}  // namespace nfsrdma::ctl
