#include "tests/fuse/channel/child.h"

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

namespace nfsrdma::testing {

Child::Child(const std::function<int()>& work) : pid_(::fork()) {
  if (pid_ != 0) return;
  // A copy of the /dev/fuse descriptor would keep the connection alive after its program has ended.
  ::close_range(STDERR_FILENO + 1, ~0U, 0);
  // A shell starts programs in its background with these two ignored: such a child would not end.
  for (const int ignored : {SIGINT, SIGQUIT}) ::signal(ignored, SIG_DFL);
  ::_exit(work());
}

Child::~Child() {
  if (waited_) return;
  send(SIGKILL);
  wait();
}

int Child::wait() {
  int status = 0;
  ::waitpid(pid_, &status, 0);
  return ended(status);
}

int Child::wait_patiently() {
  constexpr std::chrono::seconds kPatience(20);
  const auto limit = std::chrono::steady_clock::now() + kPatience;
  int status = 0;
  while (::waitpid(pid_, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > limit) return kStillThere;
    std::this_thread::yield();
  }
  return ended(status);
}

int Child::ended(int status) {
  waited_ = true;
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace nfsrdma::testing
