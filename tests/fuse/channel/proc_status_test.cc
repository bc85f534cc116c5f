#include "fuse/channel/proc_status.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fuse/channel/caller.h"
#include "tests/support/virtual_reactor.h"

namespace nfsrdma::fuse {
namespace {

std::string status(const char* pending, const char* shared, const char* blocked,
                   const char* ignored, const char* caught) {
  return std::string("Name:\tcat\nGroups:\t4 24 27 \nSigPnd:\t") + pending + "\nShdPnd:\t" +
         shared + "\nSigBlk:\t" + blocked + "\nSigIgn:\t" + ignored + "\nSigCgt:\t" + caught + "\n";
}

VirtualReactor reactor;  // nothing is told to it that it keeps

constexpr const char* kNone = "0000000000000000";
constexpr const char* kKill = "0000000000000100";    // SIGKILL, 9
constexpr const char* kUser1 = "0000000000000200";   // SIGUSR1, 10
constexpr const char* kQuit = "0000000000000004";    // SIGQUIT, 3
constexpr const char* kChild = "0000000000010000";   // SIGCHLD, 17
constexpr const char* kWindow = "0000000008000000";  // SIGWINCH, 28

TEST(ProcStatus, PendingKillIsTheEnd) {
  EXPECT_TRUE(is_being_killed(status(kKill, kNone, kNone, kNone, kNone)));
  EXPECT_TRUE(is_being_killed(status(kNone, kKill, kNone, kNone, kNone)));
}

TEST(ProcStatus, HandledIgnoredOrBlockedSignalsAreNot) {
  EXPECT_FALSE(is_being_killed(status(kNone, kUser1, kNone, kNone, kUser1)));
  EXPECT_FALSE(is_being_killed(status(kNone, kUser1, kNone, kUser1, kNone)));
  EXPECT_FALSE(is_being_killed(status(kUser1, kNone, kUser1, kNone, kNone)));
  EXPECT_FALSE(is_being_killed(status(kNone, kNone, kNone, kNone, kNone)));
}

TEST(ProcStatus, SignalsThatDoNothingByThemselvesAreNot) {
  EXPECT_FALSE(is_being_killed(status(kChild, kWindow, kNone, kNone, kNone)));
}

// A signal that dumps core stays what it is instead of turning into SIGKILL.
TEST(ProcStatus, CoreDumpIsTheEnd) {
  EXPECT_TRUE(is_being_killed(status(kNone, kQuit, kNone, kNone, kNone)));
}

TEST(ProcStatus, FieldsByWholeName) {
  EXPECT_EQ(status_field("Sig:\t1\nSigPnd:\t2\n", "SigPnd"), "2");
  EXPECT_EQ(status_field("SigPndX:\t2\n", "SigPnd"), "");
  EXPECT_EQ(status_field("SigPnd:", "SigPnd"), "");
  EXPECT_EQ(status_field("", "SigPnd"), "");
}

TEST(ProcStatus, OfThisProcess) {
  const ProcStatus own(reactor, ::getpid());
  ASSERT_TRUE(own.readable());
  EXPECT_EQ(status_field(own.text(), "Pid"), std::to_string(::getpid()));
  EXPECT_FALSE(is_being_killed(own.text()));
  EXPECT_FALSE(own.hidden());
  EXPECT_FALSE(ProcStatus(reactor, 0).readable());
}

TEST(ProcStatus, ExitingIsAFlagOfTheTask) {
  EXPECT_TRUE(is_exiting("7 (cat) S 1 7 7 34816 7 4194308 105 0"));
  EXPECT_FALSE(is_exiting("7 (cat) S 1 7 7 34816 7 4194304 105 0"));
  EXPECT_TRUE(is_exiting("7 (a) 4 (b) S 1 7 7 34816 7 4 105 0")) << "any name is possible";
  EXPECT_FALSE(is_exiting("7 (cat"));
  EXPECT_FALSE(is_exiting(""));
}

TEST(ProcStatus, LifeOfAProcess) {
  EXPECT_EQ(life_of(reactor, ::getpid()), Life::goes_on);
  EXPECT_EQ(life_of(reactor, 0), Life::goes_on) << "of another pid namespace";
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  siginfo_t ended{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(life_of(reactor, child), Life::exiting) << "a zombie";
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_EQ(life_of(reactor, child), Life::gone);
}

TEST(ProcStatus, HiddenIsNotGone) {
  EXPECT_TRUE(ProcStatus(reactor, 0).hidden()) << "a thread of another pid namespace";
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_FALSE(ProcStatus(reactor, child).readable());
  EXPECT_FALSE(ProcStatus(reactor, child).hidden()) << "it is gone";
}

TEST(Groups, AsManyAsAuthSysCarries) {
  rpc::Credential credential;
  credential.gid = 24;
  parse_groups("Groups:\t4 24 27 \n", credential);
  ASSERT_EQ(credential.group_count, 2u) << "the main group is not repeated";
  EXPECT_EQ(credential.groups[0], 4u);
  EXPECT_EQ(credential.groups[1], 27u);

  std::string many = "Groups:\t";
  for (int group = 100; group < 200; ++group) many += std::to_string(group) + " ";
  rpc::Credential full;
  parse_groups(many, full);
  EXPECT_EQ(full.group_count, rpc::kMaxAuthSysGroups);
}

TEST(Groups, NonsenseIsPassedOver) {
  rpc::Credential credential;
  parse_groups("Groups:\t4 x 99999999999999 7\n", credential);
  ASSERT_EQ(credential.group_count, 2u);
  EXPECT_EQ(credential.groups[1], 7u);
}

}  // namespace
}  // namespace nfsrdma::fuse
