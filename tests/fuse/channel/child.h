// A process of its own that makes one system call on the mount.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <climits>
#include <functional>

namespace nfsrdma::testing {

/// The work runs in a forked process and may only make system calls (the parent has threads); what
/// it returns is the process's exit code.
class Child {
 public:
  explicit Child(const std::function<int()>& work);
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child();

  void send(int signal_number) const { ::kill(pid_, signal_number); }
  /// Waits for its end. The exit code, or minus the signal that ended it.
  int wait();
  /// The same; kStillThere when it has not come: for a test that must go on to let the process end.
  int wait_patiently();
  static constexpr int kStillThere = INT_MIN;
  pid_t pid() const { return pid_; }

 private:
  int ended(int status);

  pid_t pid_;
  bool waited_ = false;
};

}  // namespace nfsrdma::testing
