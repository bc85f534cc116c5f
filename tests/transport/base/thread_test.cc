// Threads beside the reactor's, where the system has no room for one.
#include "transport/base/thread.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace nfsrdma {
namespace {

constexpr int kStarted = 1;
constexpr int kNotStarted = 2;

/// In a process of its own, whose address space cannot grow by a stack.
int start_one_without_room() {
  const pid_t child = ::fork();
  if (child == 0) {
    constexpr rlimit kNone{1, 1};
    ::setrlimit(RLIMIT_AS, &kNone);
    std::thread thread = start_without_signals([] {});
    ::_exit(thread.joinable() ? kStarted : kNotStarted);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Threads, OneThatCannotBeStartedIsNoException) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer needs address space";
#endif
  EXPECT_EQ(start_one_without_room(), kNotStarted);
}

TEST(Threads, OthersRun) {
  bool ran = false;
  start_without_signals([&ran] { ran = true; }).join();
  EXPECT_TRUE(ran);
}

}  // namespace
}  // namespace nfsrdma
