// A process of its own that makes one system call on the mount.
#pragma once

#include <signal.h>
#include <sys/types.h>

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
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
  bool waited_ = false;
};

}  // namespace nfsrdma::testing
