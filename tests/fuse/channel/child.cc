#include "tests/fuse/channel/child.h"

#include <sys/wait.h>
#include <unistd.h>

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
  waited_ = true;
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace nfsrdma::testing
